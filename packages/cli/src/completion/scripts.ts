/** Shells whose completion is supported. */
export const shells = ["bash", "zsh", "fish"] as const;

/** One of {@link shells}. */
export type Shell = (typeof shells)[number];

// All ask the hidden command `__complete`, which answers as programs with Cobra do (its documentation, "Shell completions"): a line for each word, with a description behind a
// tab, then a colon and a sum of 2 (no blank behind the word) and 4 (no files).
const scripts: Readonly<Record<Shell, string>> = {
  bash: String.raw`# bash completion of millwright: source <(millwright completion bash)
_millwright() {
  local current=${"$"}{COMP_WORDS[COMP_CWORD]} line directive=0
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) directive=${"$"}{line#:} ;;
      "$current"*) COMPREPLY+=("${"$"}{line%%$'\t'*}") ;;
    esac
  done < <("${"$"}{COMP_WORDS[0]}" __complete "${"$"}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if ((directive & 2)); then compopt -o nospace; fi
  if ((!(directive & 4))); then compopt -o default; fi
}
complete -F _millwright millwright
`,
  zsh: String.raw`#compdef millwright
# zsh completion of millwright: source <(millwright completion zsh)
_millwright() {
  local -a described flags
  local line directive=0
  while IFS= read -r line; do
    if [[ $line == :* ]]; then
      directive=${"$"}{line#:}
    elif [[ $line == *$'\t'* ]]; then
      described+=("${"$"}{${"$"}{line%%$'\t'*}//:/\\:}:${"$"}{line#*$'\t'}")
    else
      described+=("${"$"}{line//:/\\:}")
    fi
  done < <("${"$"}{words[1]}" __complete "${"$"}{(@)words[2,CURRENT]}" 2>/dev/null)
  if (( directive & 2 )); then flags=(-S ''); fi
  if (( $#described )); then _describe millwright described $flags; fi
  if (( ! (directive & 4) )); then _files; fi
}
if [[ $funcstack[1] == _millwright ]]; then _millwright "$@"; else compdef _millwright millwright; fi
`,
  fish: String.raw`# fish completion of millwright: millwright completion fish | source
function __millwright_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    switch $line
      case ':0' ':2'
        __fish_complete_path "$current"
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c millwright -f -a '(__millwright_complete)'
`,
};

/** The script that completes command lines of `millwright` in a shell. */
export const completionScript = (shell: Shell): string => scripts[shell];
