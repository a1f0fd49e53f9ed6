/** Reads one XML file of a workbook (a "part"), tag by tag. */
import { type SaxesAttributePlain, SaxesParser, type SaxesTagPlain } from 'saxes';
import { broken, type Part, textOf } from './archive.js';

type Attributes = Record<string, SaxesAttributePlain | string>;
/** Local name: some programs write a prefix, such as `x:row`. */
const localName = (name: string) => name.slice(name.indexOf(':') + 1);
export const attribute = (tag: SaxesTagPlain, name: string) => {
  const attributes = tag.attributes as Attributes;
  const found = attributes[name] ?? Object.entries(attributes).find(([key]) => localName(key) === name)?.[1];
  return found === undefined ? undefined : String(found);
};

export interface Handlers {
  open?(name: string, tag: SaxesTagPlain): void;
  text?(text: string): void;
  close?(name: string): void;
}

export function parser({ open, text, close }: Handlers): SaxesParser {
  const parser = new SaxesParser({});
  parser.on('error', () => {
    throw broken('it is damaged');
  });
  if (open) parser.on('opentag', (tag) => open(localName(tag.name), tag as SaxesTagPlain));
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  if (close) parser.on('closetag', (tag) => close(localName(tag.name)));
  return parser;
}

export async function parsePart(part: Part | undefined, maxBytes: number, handlers: Handlers): Promise<void> {
  if (part === undefined) return;
  const xml = parser(handlers);
  for await (const chunk of textOf(part, maxBytes)) xml.write(chunk);
  xml.close();
}

/** Decodes characters that XML cannot hold, which are written as `_x000D_`. */
export function unescaped(text: string): string {
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
