"""Figures of documents and reports, as SVG by Debian's python3-matplotlib."""
import matplotlib
from matplotlib import pyplot

matplotlib.use("svg")
# The same data give the same file, and text stays text.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "figures"})


def save(directory, name, panels=1, **axes):
    """A decorator: calls the function with the axes of a new figure, whose properties `axes` are, and writes the file."""
    def make(draw):
        figure, plots = pyplot.subplots(1, panels, figsize=(9.6, 5), squeeze=False, sharey=True)
        for plot in plots[0]:
            plot.set(**axes)
            plot.label_outer()
            plot.grid(color="#dddddd")
        draw(*plots[0])
        if plots[0][-1].get_legend_handles_labels()[0]:
            plots[0][-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        figure.savefig(directory / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    return make
