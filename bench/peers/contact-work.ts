/** What clients ask of contacts most, drawn from the contacts there are: in Reachline's words, and as a peer needs it. */
import { randomSource, type SyntheticContact, syntheticContacts } from '../synthetic-contacts.js';

/** Equal by column, or the words of a text. */
export interface PeerSearch {
  organizationId: string;
  equals?: Partial<SyntheticContact>;
  words?: string;
  facets?: readonly (keyof SyntheticContact)[];
  limit: number;
}

export interface Asked {
  path: string;
  body: { organization_id: string };
  peer: PeerSearch;
}

export interface Work {
  name: string;
  /** Requests of a round. */
  count: number;
  /** Both sides must find equally many. What typos, beginnings and the words of a job title match is decided by each. */
  countsAgree: boolean;
  ask(contact: SyntheticContact): Asked;
}

const SEARCH = '/api/contacts/search';

const filter = (
  contact: SyntheticContact,
  columns: readonly (keyof SyntheticContact)[],
  limit: number,
): Asked => {
  const equals = Object.fromEntries(columns.map((column) => [column, contact[column]]));
  const { organization_id } = contact;
  return {
    path: SEARCH,
    body: { organization_id, ...equals, limit } as Asked['body'],
    peer: { organizationId: organization_id, equals, limit },
  };
};

const query = ({ organization_id }: SyntheticContact, words: string): Asked => ({
  path: SEARCH,
  body: { organization_id, query: words, limit: 25 } as Asked['body'],
  peer: { organizationId: organization_id, words, limit: 25 },
});

const withoutLetter = (word: string) => `${word.slice(0, 3)}${word.slice(4)}`;

export const WORK: readonly Work[] = [
  { name: 'newest page', count: 300, countsAgree: true, ask: (contact) => filter(contact, [], 25) },
  { name: 'page of 25 by country', count: 200, countsAgree: true, ask: (c) => filter(c, ['country'], 25) },
  { name: 'page of 200 by country', count: 60, countsAgree: true, ask: (c) => filter(c, ['country'], 200) },
  {
    name: 'country and job title',
    count: 100,
    countsAgree: false,
    ask: (contact) => filter(contact, ['country', 'job_title'], 25),
  },
  {
    name: 'company domain',
    count: 200,
    countsAgree: true,
    ask: (contact) => filter(contact, ['company_domain'], 25),
  },
  {
    name: 'two words',
    count: 100,
    countsAgree: false,
    ask: (contact) => query(contact, `${contact.first_name} ${contact.last_name}`),
  },
  {
    name: 'two words, one with a typo',
    count: 40,
    countsAgree: false,
    ask: (contact) => query(contact, `${withoutLetter(contact.first_name)} ${contact.last_name}`),
  },
  {
    name: 'first four letters of a name',
    count: 100,
    countsAgree: false,
    ask: (contact) => query(contact, contact.last_name.slice(0, 4)),
  },
  {
    name: 'two frequent words',
    count: 20,
    countsAgree: false,
    ask: (contact) => query(contact, contact.job_title.split(' ').slice(0, 2).join(' ')),
  },
  {
    name: 'two facets of a country',
    count: 40,
    countsAgree: true,
    ask(contact) {
      const { body, peer, path } = filter(contact, ['country'], 1);
      const facets = ['job_title', 'city'] as const;
      return { path, body: { ...body, facets } as Asked['body'], peer: { ...peer, facets } };
    },
  },
];

/** The same requests for the same seed, of the contacts that `syntheticContacts` makes first. */
export function drawn(work: Work, organizations: number): Asked[] {
  const random = randomSource(11);
  const contacts = [...syntheticContacts(5000, organizations)];
  return Array.from({ length: work.count }, () =>
    work.ask(contacts[Math.floor(random() * contacts.length)] as SyntheticContact),
  );
}
