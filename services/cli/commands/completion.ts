/** Scripts that complete the command line, written out so that pressing Tab starts no process. */
import type { Command, Option } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

/** A command with what may follow it. */
interface CompletedCommand {
  /** ` keys create`; empty for `reachline` itself. */
  path: string;
  command: Command;
  options: Option[];
  /** Values of the first argument, where they are known. */
  values: readonly string[];
}

/** `streams` complete the stream of `ingest` and the options --stream and --streams. */
export function completionScript(program: Command, shell: Shell, streams: readonly string[]): string {
  const commands = [...eachCommand(program, '', streams)];
  if (shell === 'fish') return fishScript(commands, streams);
  const body = posixBody(commands, streams);
  return shell === 'bash' ? bashScript(body) : zshScript(body);
}

/** Deepest first. */
function* eachCommand(
  command: Command,
  path: string,
  streams: readonly string[],
): Generator<CompletedCommand> {
  for (const each of command.commands) yield* eachCommand(each, `${path} ${each.name()}`, streams);
  const [first] = command.registeredArguments;
  const values = first?.name() === 'stream' ? streams : (first?.argChoices ?? []);
  yield { path, command, options: [...command.createHelp().visibleOptions(command)], values };
}

const takesValue = ({ required, optional }: Option) => required || optional;

const valuesOf = (option: Option, streams: readonly string[]): readonly string[] =>
  /^--streams?$/.test(option.long ?? '') ? streams : (option.argChoices ?? []);

/** The part that bash and zsh share: sets `list` to the words that may stand at the cursor; empty for file names. */
function posixBody(commands: readonly CompletedCommand[], streams: readonly string[]): string {
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]));
  const afterWord: string[] = [];
  const atWord: string[] = [];
  for (const { path, command, options, values } of commands) {
    const flags = options.map(({ long }) => long).join(' ');
    for (const option of options.filter(takesValue)) {
      afterWord.push(`    '${path} ${option.long}') list='${valuesOf(option, streams).join(' ')}' ;;`);
    }
    if (values.length > 0) {
      afterWord.push(`    '${path} ${command.name()}') list='${values.join(' ')} ${flags}' ;;`);
    }
    atWord.push(`      '${path} -'*) list='${flags}' ;;`);
    atWord.push(`      '${path} '*) list='${command.commands.map((each) => each.name()).join(' ')}' ;;`);
  }
  return `  local at= list= word
  for word in "\${before[@]}"; do
    case "$at $word" in
      ${paths.join(' | ')}) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
${afterWord.join('\n')}
    *) case "$at $cur" in
${atWord.join('\n')}
    esac ;;
  esac`;
}

const bashScript = (body: string) => `_reachline() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local -a before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${body}
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
}
complete -o default -F _reachline reachline`;

const zshScript = (body: string) => `#compdef reachline
_reachline() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}"
  local -a before
  before=("\${(@)words[2,CURRENT-1]}")
${body}
  if [[ -n "$list" ]]; then compadd -- \${=list}; else _files; fi
}
compdef _reachline reachline`;

function fishScript(commands: readonly CompletedCommand[], streams: readonly string[]): string {
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]));
  const lines = commands.flatMap(({ path, command, options, values }) => {
    const complete = `complete -c reachline -n "__reachline_at '${path}'"`;
    return [
      ...command.commands.map((each) => `${complete} -f -a ${each.name()} -d ${quoted(each.description())}`),
      ...(values.length > 0 ? [`${complete} -a '${values.join(' ')}'`] : []),
      ...options.map((option) => {
        const known = valuesOf(option, streams);
        const value = known.length > 0 ? ` -x -a '${known.join(' ')}'` : takesValue(option) ? ' -r' : '';
        return `${complete} -l ${option.long?.slice(2)}${value} -d ${quoted(option.description)}`;
      }),
    ];
  });
  return `function __reachline_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths.join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}`;
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
