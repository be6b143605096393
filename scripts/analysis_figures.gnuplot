# The plots of docs/analysis.md and docs/why-bloom.md, from the files of analysis_data.
set terminal svg size 900,520 dynamic background rgb 'white' font 'sans,13'
set grid lc rgb '#dddddd'
set key outside right

set output out.'/probe_map.svg'
set multiplot layout 1,2
set xlabel 'bits m'; set ylabel 'keys n'
set palette maxcolors 6 defined (0 '#f7fbff', 1 '#c6dbef', 2 '#6baed6', 3 '#3182bd', 4 '#08519c', 5 '#08306b')
set cbrange [-0.5:5.5]; set cbtics 1
set xrange [2:256]; set yrange [1:64]
set title 'usual k - k*, standard'; plot data.'/probe_map.dat' using 1:2:3 with image notitle
set title 'usual k - k*, classic'; plot data.'/probe_map.dat' using 1:2:4 with image notitle
unset multiplot
set title

set output out.'/probe_cost.svg'
set logscale xy; set autoscale; set xrange [12:1000]; set yrange [1e-2:100]
set xlabel 'bits m'; set ylabel 'per cent'
set title 'What the usual k costs: false positives above those of k*'
plot for [i=0:2] data.'/cost.dat' index i using 2:($4>0?$4:NaN) with points pt 7 ps 0.4 \
       title sprintf('classic, %d bits per key', (i==0?6:i==1?10:16)), \
     for [i=0:2] data.'/cost.dat' index i using 2:($3>0?$3:NaN) with points pt 6 ps 0.5 \
       title sprintf('standard, %d bits per key', (i==0?6:i==1?10:16))

set output out.'/rate_missed.svg'
set xrange [12:1e6]; set yrange [1e-4:100]
set title 'By how much the exact rate exceeds the usual formula, at the usual k'
plot for [i=0:2] data.'/cost.dat' index i using 2:(abs($6)) with lines lw 2 \
       title sprintf('classic, %d bits per key', (i==0?6:i==1?10:16)), \
     for [i=0:2] data.'/cost.dat' index i using 2:(abs($5)) with lines dt 2 lw 2 \
       title sprintf('standard, %d bits per key', (i==0?6:i==1?10:16))

set output out.'/efficiency.svg'
unset logscale; set autoscale; set logscale x; set yrange [0:1]
set multiplot layout 1,2
set key inside bottom right font ',10'
set xlabel 'keys n, in 256 bits'; set ylabel 'efficiency'
do for [kind=0:1] {
  set title (kind==0 ? 'standard' : 'classic')
  plot for [i=0:6] data.'/efficiency.dat' index i using 2:(kind==0?$3:$4) with lines lw 2 \
         title sprintf('k = %d', 2**i), log(2) with lines dt 3 lc rgb 'black' title 'ln 2'
}
unset multiplot
set title

set key outside right
unset logscale; set autoscale; set logscale y; set format y '10^{%L}'; set yrange [1e-6:1]
set xlabel 'bits per key'; set ylabel 'false-positive rate'
do for [small=0:1] {
  set output out.(small ? '/designs_small.svg' : '/designs.svg')
  set title (small ? 'A filter of 24 keys' : 'A filter of a million keys')
  file = data.(small ? '/designs_small.dat' : '/designs.dat')
  plot file using 1:2 with lines lw 2 title 'a set of hashes', \
       file using 1:3 with lines lw 2 title 'one bit array, one hash', \
       file using 1:4 with lines lw 2 title 'k bit arrays', \
       file using 1:5 with lines lw 2 title 'one shared array: standard', \
       file using 1:6 with lines lw 2 title 'distinct bits: classic', \
       file using 1:7 with lines dt 2 lw 2 title 'classic, one line', \
       file using 1:8 with lines dt 2 lw 2 title 'classic, two lines', \
       file using 1:10 with lines dt 4 lw 2 title 'Ribbon, about', \
       file using 1:9 with lines lw 2 lc rgb 'black' title 'information bound'
}
