/** Draws judged queries from the records, by seed. `node dist/bench/relevance/draw.js` writes them to drawn.jsonl. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Random } from '../../services/demo/random.js';
import { DRAWN, type JudgedQuery } from './judged-query.js';
import { EDITS, editDistance, misspell } from './keyboard.js';
import { isBegunBy, isLatin, joinedNames, type Person, peopleOf, typed, wordsOf } from './people.js';
import { RECORD_SETS } from './record-sets.js';

type SetName = JudgedQuery['set'];
const SET_NAMES: SetName[] = ['congress', 'sample'];
const PEOPLE = { congress: peopleOf(RECORD_SETS.congress), sample: peopleOf(RECORD_SETS.sample) };
const LATIN = { congress: PEOPLE.congress, sample: PEOPLE.sample.filter(isLatin) };

/** The shortest word that may have a typo (contract 3.9). */
const MIN_TYPO_LETTERS = 4;
/** Above that no single person can be expected among the first three. */
const SHOWN_FIRST = 3;

const contact = (kind: string, set: SetName, query: string, ids: string[], why: string): JudgedQuery => ({
  kind,
  set,
  operation: 'contacts',
  query,
  right: { ids },
  why,
});

/** Who has both names, in any order. */
function namesakes(set: SetName, person: Person): string[] {
  const key = (each: Person) => [...each.names].sort().join(' ');
  return idsOf(PEOPLE[set].filter((other) => key(other) === key(person)));
}

const idsOf = (people: readonly Person[]) => people.map(({ id }) => id);

/** Every query that the file holds. */
export function drawQueries(): JudgedQuery[] {
  return [
    ...SET_NAMES.flatMap((set) => [...fullNames(set), ...typos(set), ...beginnings(set), ...phones(set)]),
    ...accents(),
    ...scripts(),
    ...emails(),
    ...profiles(),
    ...webSites(),
    ...titles(),
    ...places(),
    ...audiences(),
    ...postalCodes(),
  ];
}

function fullNames(set: SetName): JudgedQuery[] {
  const random = new Random(`full names of ${set}`);
  const people = random.shuffled(PEOPLE[set]);
  const written = people.slice(0, 12).map((person) => {
    const query = `${person.first} ${person.last}`;
    return contact('full name', set, query, namesakes(set, person), 'the name as it is stored');
  });
  const reversed = people.slice(12, 24).map((person, index) => {
    const query = index % 2 === 0 ? `${person.last}, ${person.first}` : `${person.last} ${person.first}`;
    return contact(
      'last name first',
      set,
      query,
      namesakes(set, person),
      'the order of words does not matter',
    );
  });
  const alone = people.slice(24, 32).map((person) => {
    const same = PEOPLE[set].filter(({ first, last }) => [first, last].includes(person.last));
    return contact('last name alone', set, person.last, idsOf(same), 'the whole of a name');
  });
  return [...written, ...reversed, ...alone];
}

/** Names with accents, typed without. */
function accents(): JudgedQuery[] {
  const random = new Random('accents');
  const hasAccents = (person: Person) =>
    typed(person.first + person.last) !== (person.first + person.last).toLowerCase();
  return SET_NAMES.flatMap((set) =>
    random
      .shuffled(LATIN[set].filter(hasAccents))
      .slice(0, 12)
      .map((person) => {
        const query = typed(`${person.first} ${person.last}`);
        return contact(
          'accents left out',
          set,
          query,
          namesakes(set, person),
          `for ${person.first} ${person.last}`,
        );
      }),
  );
}

function typos(set: SetName): JudgedQuery[] {
  const random = new Random(`typos of ${set}`);
  const one = firstOf(20, random.shuffled(LATIN[set]), (person, index) => {
    const words = person.names;
    const at = words.findLastIndex(({ length }) => length > MIN_TYPO_LETTERS);
    const word = words[at];
    const wrong = word && misspell(random, word, EDITS[index % EDITS.length] as (typeof EDITS)[number]);
    if (!wrong || isKnown(set, wrong)) return null;
    const query = words.map((each, place) => (place === at ? wrong : each)).join(' ');
    const right = nearestByName(set, wordsOf(query));
    return contact('typo in a full name', set, query, right, `for ${person.first} ${person.last}`);
  });
  const two = firstOf(8, random.shuffled(LATIN[set]), (person, index) => {
    const word = person.names.at(-1) as string;
    const edit = (step: number) => EDITS[(index + step) % EDITS.length] as (typeof EDITS)[number];
    const half = word.length >= 9 ? misspell(random, word, edit(0)) : null;
    const wrong = half && misspell(random, half, edit(1));
    if (!wrong || wrong.length < 8 || editDistance(wrong, word) !== 2 || isKnown(set, wrong)) return null;
    const right = nearestByName(set, [wrong]);
    return contact('two typos in a last name', set, wrong, right, `for ${person.first} ${person.last}`);
  });
  return [...one, ...two];
}

/** The first so many judged queries that the people give; null for a person who gives none. */
function firstOf(
  count: number,
  people: readonly Person[],
  judge: (person: Person, index: number) => JudgedQuery | null,
): JudgedQuery[] {
  const drawn: JudgedQuery[] = [];
  for (const [index, person] of people.entries()) {
    const judged = drawn.length < count && judge(person, index);
    if (judged) drawn.push(judged);
  }
  return drawn;
}

/** Whether a text is a word of any contact or the beginning of one: then nobody can see that it is a typo. */
function isKnown(set: SetName, text: string): boolean {
  knownWords[set] ??= new Set(PEOPLE[set].flatMap(searchedWords));
  for (const word of knownWords[set]) if (word.startsWith(text)) return true;
  return false;
}
const knownWords: Partial<Record<SetName, Set<string>>> = {};

function searchedWords(person: Person): string[] {
  const { id: _, names, ...fields } = person;
  return [...joinedWords(person), ...names, ...wordsOf(Object.values(fields).flat().join(' '))];
}

/** The parts of a name written together. */
const joinedWords = ({ first, last }: Person) => [wordsOf(first).join(''), wordsOf(last).join('')];

/** Who is the fewest edits away from what was typed, each word counted at the nearest name. */
function nearestByName(set: SetName, words: readonly string[]): string[] {
  // People share names, so the distance to each is measured once.
  const distanceTo = new Map<string, number>();
  const distance = (word: string, name: string) => {
    const key = `${word} ${name}`;
    const known = distanceTo.get(key) ?? editDistance(word, name);
    distanceTo.set(key, known);
    return known;
  };
  const distances = PEOPLE[set].map((person) => {
    const names = [...person.names, ...joinedWords(person)];
    let sum = 0;
    for (const word of words) sum += Math.min(...names.map((name) => distance(word, name)));
    return sum;
  });
  const least = Math.min(...distances);
  return idsOf(PEOPLE[set].filter((_, index) => distances[index] === least));
}

function beginnings(set: SetName): JudgedQuery[] {
  const random = new Random(`beginnings of ${set}`);
  const drawn = random.shuffled(PEOPLE[set]).flatMap((person, index) => {
    const [first = '', ...others] = person.names;
    const last = others.at(-1) ?? '';
    const letters = 1 + (index % 4);
    if (last.length <= letters || first.length < 2) return [];
    const query = `${first} ${last.slice(0, letters)}`;
    const right = PEOPLE[set].filter((other) => isBegunBy(other, wordsOf(query)));
    return [
      contact(
        'beginning of a name',
        set,
        query,
        idsOf(right),
        `on the way to ${person.first} ${person.last}`,
      ),
    ];
  });
  return drawn.slice(0, 16);
}

const PHONE_STYLES: { style: string; write(digits: string, local: string): string }[] = [
  { style: 'digits alone', write: (digits) => digits },
  { style: 'without the country code', write: (_, local) => local },
  { style: 'with +', write: (digits) => `+${digits}` },
  { style: 'with 00', write: (digits) => `00${digits}` },
  { style: 'in groups', write: (_, local) => grouped(local, ' ') },
  { style: 'with dots', write: (_, local) => grouped(local, '.') },
  { style: 'with dashes', write: (_, local) => grouped(local, '-') },
  { style: 'its last seven digits', write: (digits) => digits.slice(-7) },
  {
    style: 'with (0)',
    write: (digits, local) => `+${digits.slice(0, -local.length)} (0)${grouped(local, ' ')}`,
  },
  { style: 'in Arabic digits', write: (digits) => inDigits(digits, 0x660) },
  { style: 'in full-width digits', write: (digits) => inDigits(digits, 0xff10) },
  { style: 'still being typed', write: (_, local) => grouped(local, ' ').slice(0, 7) },
];

const grouped = (digits: string, by: string) =>
  [digits.slice(0, -7), digits.slice(-7, -4), digits.slice(-4)].join(by);
const inDigits = (digits: string, zero: number) =>
  Array.from(digits, (digit) => String.fromCodePoint(zero + Number(digit))).join('');

/** The numbers of Congress are stored without a country code, those of the sample with one. */
function phones(set: SetName): JudgedQuery[] {
  const random = new Random(`phones of ${set}`);
  const people = random.shuffled(PEOPLE[set].filter(({ phones: [phone] }) => phone !== undefined));
  return PHONE_STYLES.flatMap(({ style, write }, index) =>
    people.slice(2 * index, 2 * index + 2).map((person) => {
      const phone = random.pick(person.phones);
      const local = digitsOf(phone).slice(
        set === 'sample' ? digitsOf(phone.split(' ')[0] as string).length : 0,
      );
      const international = set === 'sample' ? digitsOf(phone) : `1${local}`;
      const query = write(international, local);
      const isBegun = style === 'still being typed';
      const asked = digitsOf(write(international, local).normalize('NFKC'));
      const end = isBegun ? asked : local.slice(-Math.min(7, asked.length));
      const right = PEOPLE[set].filter(({ phones }) =>
        phones.some((other) => {
          const digits = digitsOf(other);
          if (isBegun) return digits.startsWith(end) || digits.includes(end, digits.length - local.length);
          return style === 'its last seven digits' ? digits.endsWith(end) : digits === digitsOf(phone);
        }),
      );
      return contact('phone number', set, query, idsOf(right), `${phone}, ${style}`);
    }),
  );
}

const digitsOf = (text: string) => text.replace(/\D/g, '');

/** People whose names are not written in Latin letters. */
function scripts(): JudgedQuery[] {
  const random = new Random('scripts');
  const others = PEOPLE.sample.filter(
    (person) => !isLatin(person) && !/[a-z]/i.test(person.first + person.last),
  );
  const countries = [...new Set(others.map(({ country }) => country))];
  return countries.flatMap((country) => {
    const [one, two, three, four] = random.shuffled(
      others.filter((person) => person.country === country),
    ) as [Person, Person, Person, Person];
    const judged = (person: Person, query: string, why: string) =>
      contact('other scripts', 'sample', query, namesakes('sample', person), why);
    const begun = [...three.first].slice(0, 2).join('');
    const begins = PEOPLE.sample.filter((other) => isBegunBy(other, wordsOf(`${three.last} ${begun}`)));
    return [
      judged(one, `${one.first} ${one.last}`, `a name of ${country}`),
      judged(two, `${two.last} ${two.first}`, `a name of ${country}, last name first`),
      contact(
        'other scripts',
        'sample',
        `${three.last} ${begun}`,
        idsOf(begins),
        `a name of ${country}, begun`,
      ),
      ...joinedNames(four).map((joined) => judged(four, joined, `a name of ${country} as it is written`)),
      ...joinedNames(two).map((joined) => judged(two, joined, `a name of ${country} as it is written`)),
    ];
  });
}

function emails(): JudgedQuery[] {
  const random = new Random('emails');
  const styles = [
    (email: string) => email,
    (email: string) => email.toUpperCase(),
    (email: string, { first, last }: Person) => `${first} ${last} <${email}>`,
    (email: string) => `mailto:${email}`,
    (email: string) => email.slice(0, email.indexOf('@') + 4),
  ];
  return random
    .shuffled(PEOPLE.sample)
    .slice(0, 20)
    .map((person, index) => {
      const email = random.pick(person.emails);
      const query = (styles[index % styles.length] as (typeof styles)[number])(email, person);
      const isBegun = !query.toLowerCase().includes(email);
      const right = PEOPLE.sample.filter(({ emails }) =>
        emails.some((other) => (isBegun ? other.startsWith(query) : other === email)),
      );
      return contact(
        'email address',
        'sample',
        query,
        idsOf(right),
        `the address of ${person.first} ${person.last}`,
      );
    });
}

function profiles(): JudgedQuery[] {
  const random = new Random('profiles');
  const styles = [
    (url: string) => url,
    (url: string) => `${url}/`,
    (url: string) => url.replace('https://', ''),
    (url: string) => url.replace('https://www.', ''),
    (url: string) => url.replace('https://www.', 'http://de.'),
    (url: string) => `${url}?utm_source=share&utm_medium=web`,
    (url: string) => url.slice(url.lastIndexOf('/') + 1),
    (url: string) => url.slice(url.indexOf('/in/') + 1),
  ];
  return random
    .shuffled(PEOPLE.sample.filter(({ profile }) => profile !== null))
    .slice(0, 16)
    .map((person, index) => {
      const query = (styles[index % styles.length] as (typeof styles)[number])(person.profile as string);
      return contact('profile address', 'sample', query, [person.id], `of ${person.first} ${person.last}`);
    });
}

function webSites(): JudgedQuery[] {
  const random = new Random('web sites');
  const styles = [
    (domain: string) => `https://www.${domain}/`,
    (domain: string) => `http://${domain}/about/team?lang=en`,
    (domain: string) => `www.${domain}`,
    (domain: string) => domain,
    (domain: string) => domain.toUpperCase(),
  ];
  return random
    .shuffled([...new Set(PEOPLE.sample.map(({ domain }) => domain))])
    .slice(0, 10)
    .map((domain, index): JudgedQuery => {
      const query = (styles[index % styles.length] as (typeof styles)[number])(domain);
      return {
        kind: 'web site',
        set: 'sample',
        operation: 'contacts',
        query,
        right: { where: [{ company_domain: domain }] },
        why: 'people of the company',
      };
    });
}

function titles(): JudgedQuery[] {
  const random = new Random('titles');
  return random
    .shuffled(PEOPLE.sample)
    .slice(0, 30)
    .map((person, index): JudgedQuery => {
      const { jobTitle, company, country } = person;
      const [firstOfCompany = ''] = company.split(' ');
      const [query, fields] = [
        [`${jobTitle} ${company}`, { job_title: jobTitle, company_name: company }],
        [`${company} ${jobTitle}`.toLowerCase(), { job_title: jobTitle, company_name: company }],
        [`${jobTitle} ${country}`, { job_title: jobTitle, country }],
        [`${typed(person.last)} ${firstOfCompany}`, { last_name: person.last, company_name: company }],
        [`${person.first} ${company}`, { first_name: person.first, company_name: company }],
      ][index % 5] as [string, Record<string, string>];
      const begins = (other: Person) =>
        index % 5 === 3 && other.last === person.last && other.company.startsWith(`${firstOfCompany} `);
      const others = PEOPLE.sample.filter(begins);
      const right = others.length > 0 ? { ids: idsOf(others) } : { where: [fields] };
      const why = 'one contact has all of it';
      return { kind: 'title or name with company', set: 'sample', operation: 'contacts', query, right, why };
    });
}

/** A name and where its owner lives. */
function places(): JudgedQuery[] {
  const random = new Random('places');
  return SET_NAMES.flatMap((set) =>
    random
      .shuffled(PEOPLE[set].filter(({ city }) => city !== ''))
      .slice(0, 8)
      .map((person, index): JudgedQuery => {
        const [field, place] = index % 2 === 0 ? ['city', person.city] : ['state_region', person.region];
        return {
          kind: 'name with place',
          set,
          operation: 'contacts',
          query: `${typed(person.last)} ${typed(place as string)}`,
          right: { where: [{ last_name: person.last, [field as string]: place as string }] },
          why: `${person.first} ${person.last} of ${place}`,
        };
      }),
  );
}

function audiences(): JudgedQuery[] {
  const random = new Random('audiences');
  return SET_NAMES.flatMap((set) =>
    random
      .shuffled(RECORD_SETS[set].audiences)
      .slice(0, 12)
      .map(({ id, fields }, index): JudgedQuery => {
        const name = String(fields.name);
        const query = index % 2 === 0 ? name : name.toLowerCase().replace(/[^a-z ]/g, '');
        return {
          kind: 'audience by its name',
          set,
          operation: 'audiences',
          query,
          right: { ids: [id] },
          why: 'the whole name was given',
        };
      }),
  );
}

function postalCodes(): JudgedQuery[] {
  const random = new Random('postal codes');
  return SET_NAMES.flatMap((set) =>
    random
      .shuffled(PEOPLE[set].filter(({ postalCode }) => /^[A-Z0-9]{5}$/.test(postalCode)))
      .slice(0, 4)
      .map(
        (person): JudgedQuery => ({
          kind: 'postal code',
          set,
          operation: 'contacts',
          query: `${typed(person.last)} ${person.postalCode}`,
          right: { where: [{ last_name: person.last, postal_code: person.postalCode }] },
          why: 'a name tells which of those who live there',
        }),
      ),
  );
}

/** One typo of each kind in every last name of Congress, but those that nobody can see. */
export function typosOfLastNames(): JudgedQuery[] {
  const random = new Random('typos of every last name');
  const lastNames = new Map(PEOPLE.congress.map((person) => [typed(person.last), person]));
  return [...lastNames].flatMap(([lastName, person]) =>
    EDITS.flatMap((edit) => {
      const words = wordsOf(lastName);
      const long = words.flatMap(({ length }, at) => (length >= MIN_TYPO_LETTERS - 1 ? [at] : []));
      const at = long.length === 0 ? -1 : random.pick(long);
      const wrong = at === -1 ? null : misspell(random, words[at] as string, edit);
      if (!wrong || wrong.length < MIN_TYPO_LETTERS || isKnown('congress', wrong)) return [];
      const query = words.map((word, place) => (place === at ? wrong : word)).join(' ');
      const right = nearestByName('congress', wordsOf(query));
      return [
        contact(`${edit} in a last name`, 'congress', query, right, `for ${person.first} ${person.last}`),
      ];
    }),
  );
}

const PREFIXED_NAMES = 60;

/** Every beginning of sixty names of Congress, those of three words and more first. */
export function prefixesOfNames(): JudgedQuery[] {
  const random = new Random('prefixes');
  const people = random.shuffled(PEOPLE.congress);
  const isLong = ({ names }: Person) => names.length > 2;
  const drawn = [...people.filter(isLong), ...people.filter((person) => !isLong(person))].slice(
    0,
    PREFIXED_NAMES,
  );
  return drawn.flatMap((person) => {
    const name = typed(`${person.first} ${person.last}`);
    const ends = [...name]
      .map((_, index) => index + 1)
      .filter((end) => /[a-z]/.test(name[end - 1] as string));
    return ends.map((end) => {
      const query = name.slice(0, end);
      const right = idsOf(PEOPLE.congress.filter((other) => isBegunBy(other, wordsOf(query))));
      const judged = contact(
        'prefix of a name',
        'congress',
        query,
        right,
        `on the way to ${person.first} ${person.last}`,
      );
      const isTelling = end >= 3 && right.length <= SHOWN_FIRST;
      return isTelling ? { ...judged, wanted: person.id } : judged;
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] as string).href) {
  writeFileSync(
    DRAWN,
    `${drawQueries()
      .map((judged) => JSON.stringify(judged))
      .join('\n')}\n`,
  );
}
