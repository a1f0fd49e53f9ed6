/** What a PromQL expression names: as much of the language as the files of docs/operating use, and an error for the rest. */

export interface Selector {
  metric: string;
  /** Those it is selected by, and those that groups around it keep. */
  labels: string[];
}

export interface Named {
  selectors: Selector[];
  /** Labels of what comes out; null for those of the selected series. */
  kept: string[] | null;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[A-Za-z_:][\w:]*|\d[\w.]*|[=!<>]=|[=!]~|\S/g;
const NAME = /^[A-Za-z_:]/;
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset']);
const AGGREGATIONS = new Set(['sum', 'min', 'max', 'avg', 'count']);
const NOT_KNOWN = new Set(['without', 'on', 'ignoring', 'group_left', 'group_right']);

export function namedIn(expression: string): Named {
  const tokens = expression.match(TOKEN) ?? [];
  const selectors: Selector[] = [];
  let outermost: string[] | undefined;
  let at = 0;
  const fail = (why: string): never => {
    throw new SyntaxError(`${why}: ${expression}`);
  };
  const expect = (token: string) => tokens[at++] === token || fail(`${token} is missing`);

  /** Up to the parenthesis that ends it. */
  function read(groups: string[]): void {
    for (let token = tokens[at]; token !== undefined && token !== ')'; token = tokens[at]) {
      at++;
      if (token === '(') {
        read(groups);
        expect(')');
      } else if (token === 'by') {
        const labels = list('(', ')');
        if (groups.length === 0) outermost ??= labels;
        expect('(');
        read([...groups, ...labels]);
        expect(')');
      } else if (token === '{') {
        at--;
        nameless(groups);
      } else if (NOT_KNOWN.has(token)) fail(`${token} is not known here`);
      else if (NAME.test(token) && !OPERATORS.has(token) && !isCalled(token)) {
        selectors.push({ metric: token, labels: [...groups, ...matchers().map(({ label }) => label)] });
      }
    }
  }

  const isCalled = (token: string) => tokens[at] === '(' || (AGGREGATIONS.has(token) && tokens[at] === 'by');

  function list(open: string, close: string): string[] {
    expect(open);
    const names: string[] = [];
    while (tokens[at] !== close) names.push(tokens[at++] ?? fail(`${close} is missing`));
    at++;
    return names.filter((name) => name !== ',');
  }

  function matchers(): { label: string; value: string }[] {
    if (tokens[at] !== '{') return [];
    const parts = list('{', '}');
    if (parts.length % 3 !== 0) fail('a label lacks its value');
    return parts.flatMap((label, index) =>
      index % 3 === 0 ? [{ label, value: (parts[index + 2] ?? '').slice(1, -1) }] : [],
    );
  }

  /** `{__name__=~"this|that"}` */
  function nameless(groups: string[]): void {
    const all = matchers();
    const names = all.find(({ label }) => label === '__name__') ?? fail('a metric lacks its name');
    const labels = all.filter((each) => each !== names).map(({ label }) => label);
    for (const metric of names.value.split('|')) selectors.push({ metric, labels: [...groups, ...labels] });
  }

  read([]);
  if (at < tokens.length) fail('a parenthesis is too much');
  if (selectors.length === 0) fail('no metric is named');
  const isSummed = tokens.some((token, index) => AGGREGATIONS.has(token) && tokens[index + 1] === '(');
  return { selectors, kept: outermost ?? (isSummed ? [] : null) };
}
