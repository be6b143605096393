# Completion of exactbloom in bash. It asks the tool's own --help, so it knows every option that the
# tool has, in either of the layouts that versions of CLI11 give it. In zsh: autoload -U bashcompinit
# && bashcompinit, and source this file.

_exactbloom() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=("${COMP_WORDS[0]}") help choices match
  ((COMP_CWORD == 1)) || command+=("${COMP_WORDS[1]}")
  help=$("${command[@]}" --help 2>/dev/null)
  if [[ $word == -* ]]; then
    choices=$(sed -n 's/^ *\(-[a-zA-Z], *\)\{0,1\}\(--[a-z-]*\).*/\2/p' <<<"$help")
  elif ((COMP_CWORD == 1)); then
    choices=$(sed -n '/^subcommands:/I,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$help")
  else
    # An option that takes one of a few words names them in braces.
    choices=$(sed -n "s/^ *$previous .*{\([^}]*\)}.*/\1/p" <<<"$help")
  fi
  # A line of compgen is a word, with its blanks and asterisks; zsh, and bash 3, have no mapfile.
  COMPREPLY=()
  while IFS= read -r match; do
    COMPREPLY+=("$match")
  done < <(
    if [[ -n $choices ]]; then
      compgen -W "${choices//,/ }" -- "$word"
    else
      compgen -f -- "$word"
    fi
  )
}

complete -o filenames -F _exactbloom exactbloom
