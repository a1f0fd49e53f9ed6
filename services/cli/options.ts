/** Options, arguments and help that commands share. */
import { InvalidArgumentError, Option } from 'commander';

/** Written out, as the schemas of the streams take longer to load than help may take. */
export const STREAM_NAMES = [
  'contacts',
  'audiences',
  'website-visits',
  'network-a-campaigns',
  'network-a-creatives',
  'network-a-companies',
  'network-a-deliveries',
];

export const organizationOption = () => new Option('--organization <id>', 'organization');
export const jsonOption = () => new Option('--json', 'print one JSON object per line');

export const examples = (...lines: string[]) =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('It is a whole number, 0 or more.');
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
