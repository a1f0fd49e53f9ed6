/** Options, arguments and help that commands share. */
import { Command, type HelpContext, InvalidArgumentError, Option } from 'commander';
import { ID_PATTERN } from '../shared/ids.js';

/** Listed here because loading the schemas of the streams would delay help. */
export const STREAM_NAMES = [
  'contacts',
  'audiences',
  'website-visits',
  'network-a-campaigns',
  'network-a-creatives',
  'network-a-companies',
  'network-a-deliveries',
  'currency-rates',
];

/** A command whose help ends with notes and examples. The help of a group shows the first example of each of its commands. */
export class ReachlineCommand extends Command {
  #notes = '';
  #examples: readonly string[] = [];

  override createCommand(name?: string): ReachlineCommand {
    return new ReachlineCommand(name);
  }

  add(name: string, description: string): ReachlineCommand {
    return this.command(name).description(description);
  }

  /** Adds an option that takes one of the values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values));
  }

  notes(text: string): this {
    this.#notes = `\n${text.trim()}\n`;
    return this;
  }

  examples(...lines: string[]): this {
    this.#examples = lines;
    return this;
  }

  override helpInformation(context?: HelpContext): string {
    const ofCommands = (this.commands as ReachlineCommand[]).flatMap((each) => each.#examples.slice(0, 1));
    const lines = this.#examples.length > 0 ? this.#examples : ofCommands;
    const title = lines.length === 1 ? 'Example' : 'Examples';
    return `${super.helpInformation(context)}${this.#notes}\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
  }
}

const id = new RegExp(ID_PATTERN);

export function identifier(text: string): string {
  if (id.test(text)) return text;
  throw new InvalidArgumentError('An identifier has 1 to 128 characters of A-Z a-z 0-9 . _ : -');
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  }
  return value;
}

export function positiveNumber(text: string): number {
  const value = wholeNumber(text);
  if (value === 0) throw new InvalidArgumentError('It must be at least 1.');
  return value;
}

export function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value > 65535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return value;
}
