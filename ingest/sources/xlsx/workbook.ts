/** Data of a workbook outside its sheets: which sheet comes first, shared texts, and which numbers are dates. */
import { broken, MAX_PART_BYTES, notZip, type Part, type Parts } from './archive.js';
import { attribute, parsePart, unescaped } from './xml.js';

/** Maximum bytes of the texts that cells share. Excel itself stops at 2 GiB. */
const MAX_SHARED_BYTES = 32 * 1024 * 1024;
/** Maximum characters of a number format; Excel accepts no more. */
const MAX_FORMAT_CHARS = 255;

/** Facts about a workbook that are read before its sheet. */
export interface Book {
  sheet: string;
  texts: string[];
  /** Whether a number is a date, a time or both, by the style of the cell. */
  dates: (DateKind | undefined)[];
  /** Whether days count from 1904. */
  isFrom1904: boolean;
}

export type DateKind = 'date' | 'time' | 'moment';

export async function readBook(parts: Parts): Promise<Book> {
  const targets = new Map<string, { type: string; target: string }>();
  const readRelations = (name: string) =>
    parsePart(parts.get(name), MAX_PART_BYTES, {
      open(name, tag) {
        if (name !== 'Relationship') return;
        const type = attribute(tag, 'Type') ?? '';
        targets.set(attribute(tag, 'Id') ?? '', { type, target: attribute(tag, 'Target') ?? '' });
      },
    });
  const targetOf = (kind: string, base: string) => {
    const found = [...targets.values()].find(({ type }) => type.endsWith(`/${kind}`));
    return found && pathOf(found.target, base);
  };
  await readRelations('_rels/.rels');
  const bookPath = targetOf('officeDocument', '') ?? 'xl/workbook.xml';
  const folder = bookPath.slice(0, bookPath.lastIndexOf('/') + 1);
  targets.clear();
  await readRelations(`${folder}_rels/${bookPath.slice(folder.length)}.rels`);
  if (parts.get(bookPath) === undefined) throw notZip();
  let sheet: string | undefined;
  let isFrom1904 = false;
  await parsePart(parts.get(bookPath), MAX_PART_BYTES, {
    open(name, tag) {
      if (name === 'workbookPr') isFrom1904 = /^(?:1|true)$/.test(attribute(tag, 'date1904') ?? '');
      if (name !== 'sheet' || sheet !== undefined || /hidden/i.test(attribute(tag, 'state') ?? '')) return;
      const related = targets.get(attribute(tag, 'id') ?? '');
      if (related?.type.endsWith('/worksheet')) sheet = pathOf(related.target, folder);
    },
  });
  const texts = await readTexts(parts.get(targetOf('sharedStrings', folder) ?? `${folder}sharedStrings.xml`));
  const dates = await readStyles(parts.get(targetOf('styles', folder) ?? `${folder}styles.xml`));
  return { sheet: sheet ?? `${folder}worksheets/sheet1.xml`, texts, dates, isFrom1904 };
}

/** A path within the file: relative to a folder unless it begins with a slash. */
function pathOf(target: string, folder: string): string {
  const base = `file:///${folder}`;
  if (!URL.canParse(target, base)) throw broken('it is damaged');
  return new URL(target, base).pathname.slice(1);
}

async function readTexts(part: Part | undefined): Promise<string[]> {
  const texts: string[] = [];
  let text = '';
  let isText = false;
  let isPhonetic = false;
  await parsePart(part, MAX_SHARED_BYTES, {
    open(name) {
      if (name === 'si') text = '';
      if (name === 'rPh') isPhonetic = true;
      isText = name === 't' && !isPhonetic;
    },
    text(more) {
      if (isText) text += more;
    },
    close(name) {
      if (name === 't') isText = false;
      if (name === 'rPh') isPhonetic = false;
      if (name === 'si') texts.push(unescaped(text));
    },
  });
  return texts;
}

/** Built-in number formats of dates and times, by their number. */
const BUILT_IN: Record<number, DateKind> = {
  ...Object.fromEntries([14, 15, 16, 17].map((id) => [id, 'date'])),
  ...Object.fromEntries([18, 19, 20, 21, 45, 46, 47].map((id) => [id, 'time'])),
  22: 'moment',
  ...Object.fromEntries(
    [27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'date']),
  ),
  ...Object.fromEntries([32, 33, 55, 56].map((id) => [id, 'time'])),
};

async function readStyles(part: Part | undefined): Promise<(DateKind | undefined)[]> {
  const formats = new Map<number, DateKind | undefined>();
  const dates: (DateKind | undefined)[] = [];
  let isOfCells = false;
  await parsePart(part, MAX_PART_BYTES, {
    open(name, tag) {
      const id = Number(attribute(tag, 'numFmtId'));
      if (name === 'numFmt') formats.set(id, kindOf(attribute(tag, 'formatCode') ?? ''));
      if (name === 'cellXfs') isOfCells = true;
      if (name === 'xf' && isOfCells) dates.push(formats.has(id) ? formats.get(id) : BUILT_IN[id]);
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false;
    },
  });
  return dates;
}

/** Recognizes dates by their number format. `[h]` is a duration, not a date. */
function kindOf(given: string): DateKind | undefined {
  const format = given.slice(0, MAX_FORMAT_CHARS);
  if (/\[[hms]+\]/i.test(format)) return undefined;
  const code = (format.split(';', 1)[0] as string)
    // Each alternative of the expression has an optional end, so that the expression reads every character once.
    .replaceAll(/"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?/g, '')
    .toLowerCase();
  const hasDay = /[yd]/.test(code) || (code.includes('m') && !/[hs]/.test(code));
  const hasTime = /[hs]/.test(code);
  if (/\bgeneral\b/.test(code)) return undefined;
  if (hasDay) return hasTime ? 'moment' : 'date';
  return hasTime ? 'time' : undefined;
}
