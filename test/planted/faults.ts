/** Faults of the console that its driver must find: each replaces a text of a source file, once. */
import type { PROPERTIES } from '../console/driver/properties.js';

export interface PlantedFault {
  name: string;
  /** The property that it breaks. */
  breaks: keyof typeof PROPERTIES;
  /** Below `services`. */
  file: string;
  before: string;
  after: string;
  /** The episode of the usual seed that is known to find it, which is played first. */
  episode: number;
}

const fault = (
  breaks: PlantedFault['breaks'],
  name: string,
  file: string,
  before: string,
  after: string,
  episode = 0,
): PlantedFault => ({ breaks, name, file, before, after, episode });

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  // An answer knows its request.
  fault(
    'request',
    'the answer of before is shown as the one to what is asked now',
    'console/use-request.ts',
    "if (shown.request === request && !error) return { state: 'current'",
    "if (shown) return { state: 'current'",
  ),
  fault(
    'request',
    'the sign of a currency is that of the address',
    'console/ad-lists.tsx',
    '...(of.currency && { currency: of.currency }),\n      }));',
    "...(new URLSearchParams(location.search).get('currency') && { currency: new URLSearchParams(location.search).get('currency') }),\n      }));",
  ),
  fault(
    'request',
    'old figures are labelled with the range that is asked for now',
    'console/ad-lists.tsx',
    "rangeText(of.start_date ?? '', of.end_date ?? '')",
    "rangeText(reportParams().start || of.start_date || '', reportParams().end || of.end_date || '')",
  ),
  fault(
    'request',
    'all contacts that an older answer counted are offered under the filter of now',
    'console/views/contacts.tsx',
    "const isWhole = pages.state === 'current' && ",
    'const isWhole = ',
  ),
  fault(
    'request',
    'chips are of the address, and the rows of another filter',
    'console/components/filters.tsx',
    "const value = values ? String(values[name] ?? '') : asked;",
    'const value = asked;',
  ),

  // A session is a key.
  fault(
    'session',
    'what is drawn stays while another organization takes its place',
    'console/app.tsx',
    '<Shell key={key} />',
    '<Shell />',
    1,
  ),
  fault(
    'session',
    'the notice of the last organization, with its Undo, is shown to the next one',
    'console/session.ts',
    'readonly notice = signal<Notice | null>(null);',
    'readonly notice = (globalThis.lastNotice ??= signal<Notice | null>(null));',
    5,
  ),
  fault(
    'session',
    'a second tab stays signed in',
    'console/session.ts',
    "post({ kind: 'sign-out', keyId: idOf(currentKey.value) });",
    '',
  ),
  fault(
    'session',
    'a tab whose key is not confirmed signs out alone',
    'console/session.ts',
    "post({ kind: 'sign-out', keyId: idOf(currentKey.value) });",
    "if (session.value) post({ kind: 'sign-out', keyId: idOf(currentKey.value) });",
  ),
  fault(
    'session',
    'a link with a key replaces the session without a question',
    'console/session.ts',
    "if (open !== '') return;",
    "if (offeredKey.value) return acceptOffer();\n  if (open !== '') return;",
    1,
  ),
  fault(
    'session',
    'filters are saved for all organizations',
    'console/saved-filters.ts',
    '(organizationId: string) => `reachline.filters.',
    '(_: string, organizationId = 1) => `reachline.filters.',
    13,
  ),

  // An act is bound to what it acted on.
  fault(
    'act',
    'Undo takes back what was chosen instead of what was changed',
    'console/memberships.ts',
    'changeMembers(session, OPPOSITE[direction], audience, { ids }) : undefined',
    'changeMembers(session, OPPOSITE[direction], audience, target) : undefined',
    1,
  ),
  fault(
    'act',
    'the notice counts what was chosen instead of what was changed',
    'console/memberships.ts',
    "{plural(ids.length, 'contact')} $",
    "{plural(ids.length + unchanged + left, 'contact')} $",
    1,
  ),
  fault(
    'act',
    'work that goes on cannot be stopped from another view',
    'console/components/notice-bar.tsx',
    "import { useSession } from '../session.js';",
    "import { useSession as open } from '../session.js';\nimport { path } from '../router.js';\nconst useSession = () => (path.value === '/contacts' ? open() : Object.create(open(), { jobs: { value: { value: [] } } }));",
    6,
  ),
  fault(
    'act',
    'a selection outlives the rows that it was made of',
    'console/selection.ts',
    'if (request !== this.#request) this.clear();',
    'if (request !== this.#request) this.version++;',
    14,
  ),
  fault(
    'act',
    'Undo of a new audience takes away whom somebody else put into it',
    'console/memberships.ts',
    'if (members > added)',
    'if (false)',
    14,
  ),
  fault(
    'act',
    'an audience is saved over what somebody else wrote',
    'console/views/audience.tsx',
    'if_updated_at: before.updated_at,',
    '',
    15,
  ),
  fault(
    'act',
    'Undo of a deletion brings back what was shown instead of what was deleted',
    'console/components/contact-card.tsx',
    'const [deleted] = answer.deleted_contacts ?? [];',
    'const deleted = { contact_id, ...shown } as Contact;',
    16,
  ),
  fault(
    'act',
    'a late answer moves the reader',
    'console/router.ts',
    'if (isShown()) setParams(changes, options);',
    'setParams(changes, options);',
  ),
  fault(
    'act',
    'a write whose answer is lost is done twice',
    'client/client.ts',
    "'Idempotency-Key': idempotencyKey }",
    '}',
    1,
  ),

  // What is drawn adds up.
  fault(
    'sum',
    'a chart lacks its last period',
    'console/components/charts.tsx',
    'values: sumSeries(seriesOf(some), metric, periods),',
    'values: sumSeries(seriesOf(some), metric, periods.slice(0, -1)),',
  ),
  fault(
    'sum',
    'a chart has the periods of its longest series alone',
    'console/components/charts.tsx',
    'values: sumSeries(seriesOf(some), metric, periods),',
    'values: sumSeries([seriesOf(some).reduce((a, b) => (b.length > a.length ? b : a))], metric, periods),',
  ),
  fault(
    'sum',
    'months are compared by their places',
    'console/ad-lists.tsx',
    "const by = areAsLong ? 'daily' : granularity;",
    'const by = granularity;',
  ),
  fault(
    'sum',
    'currencies are added to each other',
    'console/metrics.ts',
    'const currency = item.currency ?? null;',
    'const currency = items[0]?.currency ?? null;',
  ),
  fault(
    'sum',
    'an export counts a row too many',
    'console/components/toolbar.tsx',
    "plural(rows, 'row')} saved",
    "plural(rows + 1, 'row')} saved",
  ),
  fault(
    'sum',
    'the figures of before stay when those of another range fail',
    'console/ad-lists.tsx',
    "const earlier = before.state === 'current' ? before.data : undefined;",
    'const earlier = shownOf(before)?.data;',
  ),
];
