/** Acts on contacts, audiences and keys, while another client changes them and responses are lost, and undoes these acts. */
import { addFilter, goTo } from './browsing.js';
import { Deck } from './deck.js';
import type { Driver } from './driver.js';
import type { Fault } from './proxy.js';
import { applied, changes, type State } from './world.js';

type Changed = ReadonlyMap<string, string | undefined>;

const WRITES = /many|add$|remove$|\/delete|\/update|\/create|\/ingest|\/erase|revert|undelete|restore|undo/;
/** Words by which a notice says that the outcome is unknown, or that something was not done. */
const UNKNOWN = /\bnot known\b|unknown|may (?:have|be)|perhaps|whether|nobody knows/i;
const REFUSED =
  /\b(?:not|cannot|failed|stopped|changed|no longer|error|exists|gone|erased|rejected|refused|stays)\b/i;

/** An act with what is needed to judge it: the state before, and what others changed while it was done. */
interface Act {
  name: string;
  before: State;
  others: Map<string, string | undefined>;
  /** Values that the act had already changed when another client wrote; that client may have overwritten them. */
  seen: Map<string, string | undefined>;
}

const dismiss = async ({ page }: Driver) => {
  const close = page.getByRole('button', { name: 'Dismiss' });
  if ((await close.count()) > 0) await close.first().click();
};

async function begin(driver: Driver, name: string): Promise<Act> {
  await dismiss(driver);
  return { name, before: await driver.world.stateOf(driver.of), others: new Map(), seen: new Map() };
}

/** A change by another client, and the cells that it changes. */
async function meanwhile(driver: Driver, act: Act, path: string, body: object): Promise<void> {
  const before = await driver.world.stateOf(driver.of);
  for (const [cell, value] of changes(withoutAct(act), before)) act.seen.set(cell, value);
  await driver.elsewhere(path, body);
  const after = await driver.world.stateOf(driver.of);
  for (const [cell, value] of changes(before, after)) act.others.set(cell, value);
}

/** The state that the store would have if only other clients had acted. */
const withoutAct = ({ before, others }: Act) => applied(before, others);

const show = (changed: Changed, most = 4) =>
  `${[...changed]
    .slice(0, most)
    .map(([cell, value]) => `${cell} = ${value ?? 'nothing'}`)
    .join(', ')}${changed.size > most ? ` and ${changed.size - most} more` : ''}`;

/** Returns what the act truly changed, and checks that the notice says so. */
async function judgeAct(driver: Driver, act: Act): Promise<Changed> {
  await driver.comes(async () => (await driver.progress()).notice !== undefined);
  await driver.settle();
  const after = await driver.world.stateOf(driver.of);
  const { notice } = await driver.progress();
  const done = changes(withoutAct(act), after);
  driver.note(`the notice says: ${notice}; truly changed: ${done.size} (${show(done, 2)})`);
  const said = /([\d,]+) contacts? (?:(?:was|were) )?(?:added|removed)/.exec(notice ?? '')?.[1];
  const changed = new Set([...done.keys(), ...act.seen.keys()]);
  const members = [...changed].filter((cell) => cell.startsWith('member ')).length;
  if (notice === undefined && done.size > 0 && !(await driver.screen()).asksForKey)
    driver.fault(`${act.name}: ${done.size} changes (${show(done)}), and no notice`);
  if (said !== undefined && !UNKNOWN.test(notice ?? '') && Number(said.replaceAll(',', '')) !== members)
    driver.fault(`${act.name}: the notice says "${notice}", and ${members} memberships changed`);
  const claimsNothing = /\b(?:not|nothing|failed|error|reached)\b/i.test(notice ?? '') && said === undefined;
  if (claimsNothing && done.size > 0 && !UNKNOWN.test(notice ?? ''))
    driver.fault(`${act.name}: the notice says "${notice}", and it was done: ${show(done)}`);
  return done;
}

/** Checks that Undo takes back the act and nothing else, or says that it did not. */
async function undo(driver: Driver, act: Act, alsoBefore?: () => Promise<void>): Promise<void> {
  const { page, random, proxy } = driver;
  const button = page.getByRole('button', { name: 'Undo' });
  if ((await button.count()) === 0) return;
  if (random.chance(0.3)) await goTo(driver, random.pick(['Audiences', 'Visits', 'Contacts']));
  await alsoBefore?.();
  const fault = random.pick<Fault | undefined>([undefined, undefined, undefined, 'cut after']);
  if (fault) proxy.arm(WRITES, fault, 1);
  const first = (await driver.progress()).notice;
  await driver.step(`undo ${fault ? `while answers ${fault}` : ''}`, () => button.click());
  await driver.comes(async () => {
    const { notice, doing } = await driver.progress();
    return notice !== first && doing.length === 0;
  }, 6000);
  proxy.disarm();
  await driver.settle();
  const { notice = '' } = await driver.progress();
  const after = await driver.world.stateOf(driver.of);
  // A cell that other clients took back and changed again is as the act had left it, so Undo treats the cell as changed by the act.
  const isAgain = (cell: string) => act.seen.has(cell) && act.seen.get(cell) === act.others.get(cell);
  const wrong = new Map([...changes(withoutAct(act), after)].filter(([cell]) => !isAgain(cell)));
  driver.note(`the notice says: ${notice}; not as before: ${wrong.size} (${show(wrong, 2)})`);
  const lostOfOthers = new Map(
    [...act.others].filter(([cell, value]) => after.get(cell) !== value && !isAgain(cell)),
  );
  if (lostOfOthers.size > 0 && !isGone(lostOfOthers, after, notice))
    driver.fault(`undo of ${act.name} takes back what somebody else did: ${show(lostOfOthers)} (${notice})`);
  else if (wrong.size > 0 && !UNKNOWN.test(notice) && !REFUSED.test(notice))
    driver.fault(`undo of ${act.name} says "${notice}", and it is not as before: ${show(wrong)}`);
  const said = /([\d,]+) contacts? (?:(?:was|were) )?(?:added|removed)/.exec(notice)?.[1];
  if (said !== undefined && wrong.size === 0 && act.name.startsWith('bulk')) {
    const done = (act as Act & { done?: Changed }).done;
    const members = done && [...done.keys()].filter((cell) => cell.startsWith('member ')).length;
    if (
      members !== undefined &&
      members !== Number(said.replaceAll(',', '')) &&
      act.others.size === 0 &&
      !UNKNOWN.test(notice)
    )
      driver.fault(`undo of ${act.name} says "${notice}", and it took back ${members}`);
  }
}

/** If the undo was refused, the items stay deleted, with what others changed in them before. */
const isGone = (lost: Changed, after: State, notice: string) =>
  REFUSED.test(notice) && [...lost.keys()].every((cell) => !after.has(cell));

const idsIn = (state: State, country: string) =>
  [...state].flatMap(([cell, value]) =>
    cell.endsWith(' country') && value === JSON.stringify(country) ? [cell.split(' ')[1] as string] : [],
  );

const wait = (driver: Driver, what: () => boolean) => driver.comes(async () => what(), 3000);

const BULK_HOWS = [
  'plain',
  'others before',
  'others after',
  'cut after',
  'fail',
  'stop before',
  'stop after',
  'leave',
  'search',
  'sort',
] as const;

/** Chooses contacts in the list: all that match, or some. */
async function choose(driver: Driver, country: string, isAll: boolean): Promise<boolean> {
  const { page, random } = driver;
  return driver.step(`choose contacts of ${country || 'everybody'}`, async () => {
    await goTo(driver, 'Audiences');
    await goTo(driver, 'Contacts');
    await page.getByRole('table', { name: 'Contacts' }).locator('tbody a').first().waitFor();
    if (country) await addFilter(driver, 'Country', country);
    await driver.settle();
    if (isAll) {
      await page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
      const every = page.getByRole('button', { name: /^Select all/ });
      if ((await every.count()) > 0) await every.click();
    } else {
      const boxes = page.getByRole('table', { name: 'Contacts' }).locator('tbody').getByRole('checkbox');
      for (const index of new Set([random.below(10), 10 + random.below(10), random.below(20)]))
        await boxes.nth(index).click();
    }
  });
}

/** Adds or removes some contacts, or all that match, under the given trouble with responses. Sometimes undoes it. */
async function bulk(driver: Driver, isAll: boolean, how: (typeof BULK_HOWS)[number]): Promise<void> {
  const { page, random, proxy } = driver;
  const country = random.pick(['', 'DE', 'DE', 'FR', 'US']);
  const direction = random.pick(['Add to', 'Remove from']);
  const audience = random.pick(['customers', 'newsletter', 'trial', 'blocked']);
  const name = `bulk ${direction} ${audience}, ${isAll ? 'all that match' : 'some'} of ${country || 'everybody'}, ${how}`;
  if (!(await choose(driver, country, isAll))) return;
  if (how === 'sort') {
    await driver.step('sort', () => page.locator('main').getByLabel('Sort').selectOption('last name'));
    if (driver.faults.length > 0 || (await driver.screen()).selection === undefined) return;
  }
  const act = await begin(driver, name);
  const matching = idsIn(act.before, country || 'FR');
  const word = driver.of.marker.toLowerCase();
  const theirs = {
    audience_id: `aud_${word}_${audience}`,
    contact_ids: [matching[random.below(matching.length)], matching[0]],
  };
  const others = () =>
    meanwhile(driver, act, `/api/audiences/contacts/${random.pick(['add', 'remove'])}-many`, theirs);
  const holds: Partial<Record<typeof how, Fault>> = {
    'others before': 'hold before',
    'others after': 'hold after',
    'stop before': 'hold before',
    'stop after': 'hold after',
    leave: 'hold after',
    search: 'hold before',
    'cut after': 'cut after',
    fail: 'fail',
  };
  const fault = holds[how];
  if (fault) proxy.arm(/-many/, fault, fault === 'fail' ? 2 : 1);
  const started = await driver.step(name, async () => {
    const bar = page.getByRole('region', { name: 'Selection' });
    await bar.locator('summary', { hasText: direction }).click();
    await bar.getByRole('textbox').fill(audience);
    await bar.getByRole('button', { name: new RegExp(`^${direction} .* ${audience}$`) }).click();
  });
  if (started && fault?.startsWith('hold')) {
    if (await wait(driver, () => proxy.held > 0)) {
      if (how.startsWith('others')) await others();
      if (how.startsWith('stop')) {
        const stopped = await driver.step('stop', () =>
          page.getByRole('button', { name: /^Stop/ }).first().click(),
        );
        if (!stopped) driver.fault(`${name}: it cannot be stopped`);
      }
      if (how === 'leave')
        await driver.step('leave', () => goTo(driver, random.pick(['Visits', 'Audiences'])));
      if (how === 'search')
        await driver.step('search meanwhile', () => page.getByRole('searchbox').fill('manager'));
      if (how === 'leave' || how === 'search') {
        const { canStop, notice } = await driver.progress();
        if (proxy.held > 0 && !canStop) driver.fault(`${name}: it goes on, and nothing shows it (${notice})`);
      }
    }
    proxy.disarm();
    proxy.release();
  }
  if (!started) {
    proxy.disarm();
    return;
  }
  await driver.comes(async () => (await driver.progress()).doing.length === 0, 6000);
  proxy.disarm();
  const done = await judgeAct(driver, act);
  Object.assign(act, { done });
  await driver.judge();
  if (driver.faults.length === 0) await undo(driver, act, random.chance(0.5) ? others : undefined);
}

type Kind = 'Contact' | 'Audience';

/** The card of a contact, or the facts on the page of an audience. */
const cardOf = ({ page }: Driver, kind: Kind) =>
  page.getByRole(kind === 'Audience' ? 'region' : 'complementary', { name: kind, exact: true });

/** Opens the card of a contact or the page of an audience that is shown, and returns its id. */
async function openRow(driver: Driver, table: string, name: Kind): Promise<string> {
  const { page, random } = driver;
  await goTo(driver, table);
  const links = page.getByRole('table', { name: table }).locator('tbody a[href*="="]:not([href^="mailto"])');
  await links.first().waitFor();
  await links.nth(random.below(Math.min(12, await links.count()))).click();
  await cardOf(driver, name).waitFor();
  return new URL(page.url()).searchParams.get(name.toLowerCase()) ?? '';
}

/** Makes an audience of contacts, into which somebody else puts others, and takes it back. */
async function collect(driver: Driver, isShared: boolean): Promise<void> {
  const { page, random } = driver;
  const name = `${driver.of.marker} made ${random.below(100_000)}`;
  if (!(await choose(driver, 'FR', false))) return;
  const act = await begin(driver, `bulk into the new audience ${name}`);
  const asked = await driver.step(act.name, async () => {
    const bar = page.getByRole('region', { name: 'Selection' });
    await bar.locator('summary', { hasText: 'Add to' }).click();
    await bar.getByRole('textbox').fill(name);
    await bar.getByRole('button', { name: `New audience “${name}”` }).click();
  });
  if (!asked) return;
  await driver.comes(async () => (await driver.progress()).doing.length === 0, 6000);
  const done = await judgeAct(driver, act);
  const [cell = ''] = [...done].find(([, value]) => value === JSON.stringify(name)) ?? [];
  const [, audience_id] = cell.split(' ');
  if (audience_id === undefined || driver.faults.length > 0) return;
  const contact_ids = idsIn(act.before, 'DE').slice(0, 1);
  const share = () =>
    meanwhile(driver, act, '/api/audiences/contacts/add-many', { audience_id, contact_ids });
  await undo(driver, act, isShared ? share : undefined);
}

const DELETE_HOWS = ['plain', 'others before', 'leave', 'cut after', 'others erase'] as const;

async function deleteOne(driver: Driver, kind: Kind, how: (typeof DELETE_HOWS)[number]): Promise<void> {
  const { random, proxy } = driver;
  let id = '';
  const opened = await driver.step(`open a card of ${kind}`, async () => {
    id = await openRow(driver, `${kind}s`, kind);
    return id;
  });
  if (!opened || id === '') return;
  const act = await begin(driver, `deletion of ${id}`);
  const update =
    kind === 'Contact'
      ? { contact_id: id, job_title: `${driver.of.marker} chief ${random.below(1000)}` }
      : { audience_id: id, description: `Theirs of ${driver.of.marker} ${random.below(1000)}` };
  if (how === 'others before') await meanwhile(driver, act, `/api/${kind.toLowerCase()}s/update`, update);
  if (how === 'leave') proxy.arm(/\/delete$/, 'hold after', 1);
  if (how === 'cut after') proxy.arm(/\/delete$/, 'cut after', 1);
  const card = cardOf(driver, kind);
  const asked = await driver.step(`delete it, ${how}`, async () => {
    await card.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.getByRole('button', { name: `Delete the ${kind.toLowerCase()}` }).click();
  });
  if (how === 'leave' && (await wait(driver, () => proxy.held > 0))) await lateAnswer(driver, kind, id);
  proxy.disarm();
  proxy.release();
  if (!asked) return;
  await judgeAct(driver, act);
  await driver.judge();
  if (driver.faults.length > 0) return;
  const erase =
    how === 'others erase' && kind === 'Contact'
      ? () =>
          meanwhile(driver, act, '/api/contacts/erase', {
            contact_ids: [id],
            emails: [emailIn(act.before, id)],
          })
      : undefined;
  await undo(driver, act, erase);
}

const emailIn = (state: State, id: string) =>
  (JSON.parse(state.get(`contact ${id} work_emails`) ?? '[]') as string[])[0];

/** Opens another row, or leaves the view, before a response arrives; the late response must not move the user. */
async function lateAnswer(driver: Driver, kind: string, id = ''): Promise<void> {
  const { page, proxy, random } = driver;
  const others = page
    .getByRole('table', { name: `${kind}s` })
    .locator(`tbody a[href*="${kind.toLowerCase()}="]:not([href*="${id || 'none'}"])`);
  // Otherwise no part of the address would be removed.
  const opens = random.chance(0.5) && (await others.count()) > 0;
  await driver.step(`${opens ? 'open another row' : 'leave'} before the answer`, () =>
    opens ? others.first().click() : goTo(driver, 'Visits'),
  );
  const before = (await driver.progress()).url;
  proxy.disarm();
  proxy.release();
  await driver.step('the answer comes', async () => undefined);
  const after = (await driver.progress()).url;
  if (after !== before) driver.fault(`a late answer moves the reader from ${before} to ${after}`);
}

const EDIT_HOWS = ['plain', 'others the same', 'others another', 'cut after'] as const;

/** Types into a form of a card, while somebody else may change the same or another field. */
async function edit(driver: Driver, kind: Kind, how: (typeof EDIT_HOWS)[number]): Promise<void> {
  const { random, proxy } = driver;
  const [label, field, otherField] =
    kind === 'Contact'
      ? ['Job title', 'job_title', 'city']
      : ['Description', 'description', 'tracking_utm_value'];
  let id = '';
  const card = cardOf(driver, kind);
  const opened = await driver.step(`edit a card of ${kind}`, async () => {
    id = await openRow(driver, `${kind}s`, kind);
    await card.getByRole('button', { name: 'Edit' }).click();
    return id;
  });
  if (!opened || id === '') return;
  const act = await begin(driver, `edit of ${id}`);
  const write = (name: string | undefined) =>
    meanwhile(driver, act, `/api/${kind.toLowerCase()}s/update`, {
      [`${kind.toLowerCase()}_id`]: id,
      [name as string]: `${driver.of.marker} by others ${random.below(10_000)}`,
    });
  if (how === 'others the same') await write(field);
  if (how === 'others another') await write(otherField);
  if (how === 'cut after') proxy.arm(/\/update$/, 'cut after', 1);
  const saved = await driver.step(`save, ${how}`, async () => {
    await card
      .getByLabel(label as string, { exact: true })
      .fill(`${driver.of.marker} ours ${random.below(10_000)}`);
    await card.getByRole('button', { name: 'Save' }).click();
  });
  proxy.disarm();
  if (!saved) return;
  await judgeAct(driver, act);
  const after = await driver.world.stateOf(driver.of);
  for (const [cell, value] of act.others)
    if (after.get(cell) !== value)
      driver.fault(`${act.name} overwrites without a word what somebody else wrote: ${cell} = ${value}`);
  await driver.judge();
  if (driver.faults.length > 0) return;
  await undo(driver, act, random.chance(0.4) ? () => write(random.pick([field, otherField])) : undefined);
}

const CREATE_HOWS = ['plain', 'cut after', 'leave'] as const;

/** Creates a key, audience or contact. Exactly one must exist afterwards, whatever happens to the response. */
async function create(
  driver: Driver,
  kind: 'key' | 'audience' | 'contact',
  how: (typeof CREATE_HOWS)[number],
): Promise<void> {
  const { page, random, proxy } = driver;
  const name = `${driver.of.marker} made ${random.below(100_000)}`;
  const act = await begin(driver, `creation of the ${kind} ${name}`);
  const path = kind === 'contact' ? /contacts\/create$/ : /(?:keys|audiences)\/create$/;
  let isAsked = false;
  const asked = await driver.step(`create a ${kind}, ${how}`, async () => {
    if (kind === 'key') {
      await goTo(driver, 'API keys');
      await page.getByRole('link', { name: 'New key' }).click();
      const form = page.getByRole('complementary', { name: 'New key' });
      await form.getByLabel('What it is for').fill(name);
      await form.getByRole('checkbox', { name: 'Read contacts' }).check();
      if (how !== 'plain') proxy.arm(path, how === 'leave' ? 'hold after' : 'cut after', 1);
      await form.getByRole('button', { name: 'Create the key' }).click();
    } else if (kind === 'audience') {
      await goTo(driver, 'Audiences');
      await page.getByRole('link', { name: 'New audience' }).click();
      const form = page.getByRole('complementary', { name: 'New audience' });
      await form.getByLabel('Name').fill(name);
      if (how !== 'plain') proxy.arm(path, how === 'leave' ? 'hold after' : 'cut after', 1);
      await form.getByRole('button', { name: 'Create' }).click();
    } else {
      await goTo(driver, 'Contacts');
      await page.getByRole('link', { name: 'New contact' }).click();
      const form = page.getByRole('complementary', { name: 'New contact' });
      await form.getByLabel('Audience').selectOption({ index: 1 });
      await form.getByLabel('Last name').fill(name);
      await form.getByLabel('Company').fill(`${driver.of.marker} Works 1`);
      await form.getByRole('button', { name: 'Check price and duplicates' }).click();
      await form.getByRole('button', { name: 'Create', exact: true }).waitFor();
      if (how !== 'plain') proxy.arm(path, how === 'leave' ? 'hold after' : 'cut after', 1);
      await form.getByRole('button', { name: 'Create', exact: true }).click();
    }
    isAsked = true;
    return name;
  });
  if (how === 'leave' && asked && (await wait(driver, () => proxy.held > 0)))
    await lateAnswer(driver, kind === 'audience' ? 'Audience' : 'Contact');
  proxy.disarm();
  proxy.release();
  if (!isAsked) return;
  await driver.settle();
  await driver.comes(async () => {
    const { notice, url } = await driver.progress();
    return notice !== undefined || /[?&](contact|audience)=/.test(url);
  }, 3000);
  const after = await driver.world.stateOf(driver.of);
  const made = [...after].filter(([cell, value]) => value.includes(name) && /^key|name$/.test(cell));
  driver.note(`there are ${made.length} of it; the notice says: ${(await driver.screen()).notice}`);
  const texts = (await driver.screen()).notes.join(' ') + (await driver.screen()).notice;
  if (made.length > 1) driver.fault(`${act.name}, ${how}: there are ${made.length}`);
  if (made.length === 0 && how === 'plain') driver.fault(`${act.name}: there is none (${texts})`);
  await driver.judge();
}

/** Imports a file, and leaves the view before the response. */
async function importFile(driver: Driver): Promise<void> {
  const { page, random, proxy } = driver;
  const { marker } = driver.of;
  const first = random.below(1_000_000);
  const rows = Array.from(
    { length: 5 },
    (_, row) => `${marker}_i${first + row},Ada,${marker}loaded ${row},${marker} Works 2`,
  );
  const act = await begin(driver, 'import of a file');
  const asked = await driver.step('load a file', async () => {
    await goTo(driver, 'Import');
    const buffer = Buffer.from(`ID,First Name,Last Name,Company\n${rows.join('\n')}\n`);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer });
    const load = page.getByRole('region', { name: 'Preview' }).getByRole('button', { name: /^Load / });
    await load.waitFor({ timeout: 5000 });
    proxy.arm(/\/ingest\//, random.pick(['hold before', 'hold after']), 1);
    await load.click();
  });
  if (!asked || !(await wait(driver, () => proxy.held > 0))) {
    proxy.disarm();
    return proxy.release();
  }
  await driver.step('leave', () => goTo(driver, random.pick(['Contacts', 'Visits'])));
  const { canStop, notice } = await driver.progress();
  const isStopped = proxy.held === 0;
  proxy.disarm();
  proxy.release();
  if (notice === undefined && !canStop)
    driver.fault(`an import ${isStopped ? 'stops' : 'goes on'} as its view is left, and nothing shows it`);
  await driver.step('its answer comes', async () => undefined);
  await driver.comes(async () => (await driver.progress()).notice !== undefined);
  const done = changes(act.before, await driver.world.stateOf(driver.of));
  const said = (await driver.progress()).notice;
  const loaded = [...done.keys()].filter((cell) => cell.endsWith(' last_name')).length;
  driver.note(`the notice says: ${said}; ${loaded} contacts were loaded`);
  if (loaded > 0 && said === undefined) driver.fault(`${loaded} contacts were loaded, and no notice says so`);
}

type Play = (driver: Driver) => Promise<void>;

/** Every act, combined with every fault or change that may happen to the act. */
const ACTS = new Deck<Play>([
  ...BULK_HOWS.flatMap((how) =>
    [true, false].map(
      (isAll): Play =>
        (driver) =>
          bulk(driver, isAll, how),
    ),
  ),
  ...[true, false].map(
    (isShared): Play =>
      (driver) =>
        collect(driver, isShared),
  ),
  ...(['Contact', 'Audience'] as const).flatMap((kind) => [
    ...DELETE_HOWS.map(
      (how): Play =>
        (driver) =>
          deleteOne(driver, kind, how),
    ),
    ...EDIT_HOWS.map(
      (how): Play =>
        (driver) =>
          edit(driver, kind, how),
    ),
  ]),
  ...(['key', 'audience', 'contact'] as const).flatMap((kind) =>
    CREATE_HOWS.map(
      (how): Play =>
        (driver) =>
          create(driver, kind, how),
    ),
  ),
  importFile,
]);

export async function actOnce(driver: Driver): Promise<void> {
  // Once a list has been read again, the list shows the last response again.
  if (driver.isChangedElsewhere) {
    driver.isChangedElsewhere = false;
    await driver.step('reload', async () => void (await driver.page.reload()));
  }
  await driver.deal(ACTS)(driver);
}
