/** Completion in shells. A shell's script calls this command at each Tab, so that one script fits every version. */
import type { Command, Option } from 'commander';
import { type Io, printOut } from '../io.js';
import { STREAM_NAMES } from '../options.js';

export type Shell = 'bash' | 'zsh' | 'fish';

const SCRIPTS: Record<Shell, string> = {
  bash: `_reachline() {
  COMPREPLY=($(reachline completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _reachline reachline`,
  zsh: `#compdef reachline
_reachline() {
  local -a list
  list=(\${(f)"$(reachline completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#list )); then compadd -- $list; else _files; fi
}
compdef _reachline reachline`,
  fish: `function __reachline
  set -l word (commandline -ct)
  set -l list (reachline completion fish -- (commandline -opc)[2..-1] "$word" 2>/dev/null)
  if test -n "$list"; printf '%s\\n' $list; else; __fish_complete_path "$word"; end
end
complete -c reachline -f -a '(__reachline)'`,
};

/**
 * Prints the script. If the script calls it with the words after `reachline`, prints candidates for the last word, or nothing for a file
 * name.
 */
export function completion(io: Io, program: Command, shell: Shell, words: readonly string[]): void {
  if (words.length === 0) printOut(io, SCRIPTS[shell]);
  else {
    for (const { name, description } of candidates(program, words)) {
      if (!name.startsWith(words.at(-1) as string)) continue;
      printOut(io, shell === 'fish' ? `${name}\t${description}` : name);
    }
  }
}

interface Candidate {
  name: string;
  description: string;
}

function candidates(program: Command, words: readonly string[]): Candidate[] {
  const before = words.slice(0, -1);
  const command = before.reduce(
    (at, word) => at.commands.find((each) => each.name() === word) ?? at,
    program,
  );
  const options = command.createHelp().visibleOptions(command);
  const option = options.find(({ long }) => long === before.at(-1));
  if (option?.required || option?.optional) return toCandidates(valuesOf(option), option.description);
  if (words.at(-1)?.startsWith('-')) {
    return options.map(({ long, description }) => ({ name: long as string, description }));
  }
  const [argument] = command.registeredArguments;
  if (argument && before.at(-1) === command.name()) {
    const values = argument.name() === 'stream' ? STREAM_NAMES : argument.argChoices;
    return toCandidates(values, argument.description);
  }
  return command.commands.map((each) => ({ name: each.name(), description: each.description() }));
}

const valuesOf = ({ long, argChoices }: Option) =>
  /^--streams?$/.test(long ?? '') ? STREAM_NAMES : argChoices;

const toCandidates = (values: readonly string[] = [], description: string): Candidate[] =>
  values.map((name) => ({ name, description }));
