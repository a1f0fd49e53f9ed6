/**
 * Every place that may hold an identifier of a person: a table, an index, a topic, a file. The erasers of both stores, the restore of a
 * backup and the tests go through this table, and docs/operating/personal-data.md shows it. A place that is not in it is a place that an
 * erasure does not reach, so a test fails for a table, an index or a topic that is neither here nor in `WITHOUT_PERSONS`.
 */

export interface Place {
  /** What of a person it holds. */
  holds: string;
  /** How an erasure takes it out, or why it cannot. */
  removal: string;
  /** Until when it may stay after the request. */
  until: string;
  /** Tables, or indices without their prefix, or topics. */
  sqlite?: readonly string[];
  elasticsearch?: readonly string[];
  clickhouse?: readonly string[];
  kafka?: readonly string[];
}

/** Places that are looked up by the identifiers of an erasure, beside the contacts themselves. */
export const TRACE_PLACES = ['deletions', 'idempotency_answers', 'rejections'] as const;
export type TracePlace = (typeof TRACE_PLACES)[number];

export const PERSONAL_DATA = {
  contacts: {
    holds: 'contacts with their memberships',
    removal: 'Contacts that have a named identifier are removed in steps.',
    until: 'seconds; the deleted rows and documents until `completed_at`',
    sqlite: ['contacts', 'memberships'],
    elasticsearch: ['contacts'],
  },
  words: {
    holds: 'words of contacts in the search index and in the list of words for typos',
    removal:
      'Words leave with their contact; then the segments of the index are written anew, which drops what updates and deletions left.',
    until: '`completed_at`',
    sqlite: ['contact_terms', 'vocabulary'],
  },
  deletions: {
    holds: 'identifiers of deleted contacts, and salted hashes of the addresses that they had',
    removal:
      'Found by identifier, and by the hash of a named address. Elasticsearch keeps no such hash: there an address does not find the id of a contact that was deleted before. Name that id too.',
    until: 'seconds; an id that was not found stays',
    sqlite: ['deleted_contacts', 'deleted_identifiers'],
  },
  idempotency_answers: {
    holds: 'responses kept for `Idempotency-Key`',
    removal: 'Found by the identifiers that a response shows.',
    until: 'seconds',
    sqlite: ['idempotency', 'answer_identifiers'],
    elasticsearch: ['idempotency'],
  },
  rejections: {
    holds: 'identifiers of rejected records; an identifier that breaks the rules of identifiers is not kept',
    removal: 'Found by identifier. The record of a contact that was never stored is not found by an address.',
    until: 'seconds; else 30 days',
    sqlite: ['rejections'],
    elasticsearch: ['rejections'],
  },
  erasures: {
    holds: 'what the request named, until no contact is left; then salted hashes alone',
    removal: 'The last step removes it.',
    until: '`completed_at`; salted hashes for ever',
    sqlite: ['erasures', 'erasure_steps', 'jobs', 'suppressed', 'suppression_secret'],
    elasticsearch: ['erasures'],
  },
  reservations: {
    holds: 'on servers, ids of contacts whose creation is being paid',
    removal:
      'They leave with the end of the creation; Elasticsearch drops the former version with its next merge.',
    until: 'seconds; ids that Reachline made, in deleted versions, longer',
    elasticsearch: ['accounts'],
  },
  log: {
    holds: 'pages of the database as they were before',
    removal: 'The write-ahead log is emptied once no reader needs it.',
    until: '`completed_at`',
  },
  sql_copy: {
    holds: 'contacts that SQL reads on a ClickHouse server',
    removal: 'Hidden at once, gone with the next copy.',
    until: '`completed_at`',
    clickhouse: ['contacts'],
  },
  topics: {
    holds: 'records as they were sent',
    removal: 'Out of reach. A worker that reads one again leaves the person out.',
    until: '7 days',
    kafka: ['contacts'],
  },
  dead_letters: {
    holds: 'rejected records of Kafka with their bytes',
    removal: 'Out of reach.',
    until: '30 days',
    kafka: ['contacts.dead-letter'],
  },
  backups: {
    holds: 'everything',
    removal:
      'Out of reach. A restore applies later erasures where it is given a newer suppression list, and prints how many contacts it removed.',
    until: 'you delete them',
  },
  files: {
    holds: 'exports, imported files, and files of rejected lines',
    removal: 'Out of reach.',
    until: 'you delete them',
  },
  process_log: {
    holds: 'nothing: values of records and requests are not logged',
    removal: 'None is needed.',
    until: 'never',
  },
} as const satisfies Record<string, Place>;

/** Tables, indices and topics that hold no identifier of a person. */
export const WITHOUT_PERSONS = {
  sqlite: [
    'audience_terms',
    'audiences',
    'counters',
    'credits',
    'derived',
    'keys',
    'mark',
    'organizations',
    'schema_migrations',
    'visits',
    'visit_days',
  ],
  elasticsearch: ['audiences', 'visits', 'keys', 'streams', 'jobs', 'migrations'],
  clickhouse: ['audiences', 'website_visits'],
} as const;
