/**
 * The register of every place that may hold an identifier of a person: tables, indices, topics and files. The erasers of both stores, the
 * restore of a backup and tests use it, and docs/operating/personal-data.md shows it. An erasure does not reach places that are missing
 * here, so a test fails for a table, index or topic that is neither here nor in `WITHOUT_PERSONS`.
 */

export interface Place {
  /** The personal data that this place holds. */
  holds: string;
  /**
   * The step of an erasure that empties the place: the removal of each contact, a look-up by the identifiers (the compiler requires a
   * look-up in both stores), or the completion. Null if the place is out of reach, or empties by itself. Erasures always expunge indices of
   * Elasticsearch.
   */
  eraser: 'contact' | 'trace' | 'completion' | null;
  /** How an erasure removes the data, or why an erasure cannot remove the data. */
  removal: string;
  /** How long the data may stay after the request. */
  until: string;
  /** Names of tables, of indices without their prefix, or of topics. */
  sqlite?: readonly string[];
  elasticsearch?: readonly string[];
  clickhouse?: readonly string[];
  kafka?: readonly string[];
}

export const PERSONAL_DATA = {
  contacts: {
    holds: 'contacts with their memberships',
    eraser: 'contact',
    removal: 'Contacts that have a named identifier are removed in steps.',
    until: 'seconds; deleted rows and documents until `completed_at`',
    sqlite: ['contacts', 'memberships'],
    elasticsearch: ['contacts'],
  },
  words: {
    holds: 'words of contacts in the search index, and in the list of words that finds typos',
    eraser: 'contact',
    removal:
      'The words of a contact are removed with the contact. Then the segments of the index are written anew, which drops what updates and deletions left in them.',
    until: '`completed_at`',
    sqlite: ['contact_terms', 'vocabulary'],
  },
  deletions: {
    holds: 'identifiers of deleted contacts, and salted hashes of the addresses that they had',
    eraser: 'trace',
    removal:
      'The erasure finds them by identifier, and by the hash of a named address. Elasticsearch keeps no such hash, so an address does not find the id of a contact that was deleted before. Name this id too.',
    until: 'seconds; an id that was not found stays',
    sqlite: ['deleted_contacts', 'deleted_identifiers'],
  },
  change_marks: {
    holds:
      'ids of deleted and erased contacts, with which the feed of changes tells other systems that a contact is gone',
    eraser: null,
    removal:
      'Out of reach: an erasure writes the id, and nothing else of the person. A job deletes it by age.',
    until: '7 days (`REACHLINE_CHANGES_DAYS`)',
    sqlite: ['absent_contacts'],
  },
  idempotency_answers: {
    holds: 'responses kept for `Idempotency-Key`',
    eraser: 'trace',
    removal:
      'The erasure finds them by the identifiers that a response shows. The response of an erasure itself stays, encrypted by its `Idempotency-Key`, which the store does not have.',
    until: 'seconds; the response of an erasure for 24 hours',
    sqlite: ['idempotency', 'answer_identifiers'],
    elasticsearch: ['idempotency'],
  },
  rejections: {
    holds: 'identifiers of rejected records; an invalid identifier is not kept',
    eraser: 'trace',
    removal:
      'The erasure finds them by identifier. An address does not find the record of a contact that was never stored.',
    until: 'seconds; 30 days if it was not found',
    sqlite: ['rejections'],
    elasticsearch: ['rejections'],
  },
  erasures: {
    holds: 'the identifier that the request named, until no contact is left; then only salted hashes',
    eraser: 'completion',
    removal: 'The last step removes the identifier.',
    until: '`completed_at`; salted hashes for ever',
    sqlite: ['erasures', 'erasure_steps', 'jobs', 'suppressed', 'suppression_secret'],
    elasticsearch: ['erasures'],
  },
  reservations: {
    holds: 'on servers, ids of contacts while credits for their creation are debited',
    eraser: 'completion',
    removal:
      'The end of the creation removes the ids. The former version is dropped like a deleted document.',
    until: 'seconds; former versions until `completed_at`',
    elasticsearch: ['accounts'],
  },
  log: {
    holds: 'earlier versions of database pages',
    eraser: 'completion',
    removal: 'The write-ahead log is emptied once no reader needs it.',
    until: '`completed_at`',
  },
  sql_copy: {
    holds: 'contacts that SQL reads, in the embedded engine or on a ClickHouse server',
    eraser: 'completion',
    removal: 'The contacts are hidden at once. Then the copy is made again without them.',
    until: '`completed_at`',
    clickhouse: ['contacts'],
  },
  topics: {
    holds: 'records as they were sent',
    eraser: null,
    removal: 'Out of reach. If a worker reads such a record again, it leaves the person out.',
    until: '7 days',
    kafka: ['contacts'],
  },
  dead_letters: {
    holds: 'rejected records of Kafka with their bytes',
    eraser: null,
    removal: 'Out of reach.',
    until: '30 days',
    kafka: ['contacts.dead-letter'],
  },
  backups: {
    holds: 'everything',
    eraser: null,
    removal:
      'Out of reach. If you give a restore a newer suppression list, it applies the later erasures, and prints how many contacts it removed.',
    until: 'you delete them',
  },
  files: {
    holds: 'exports, imported files, and files of rejected lines',
    eraser: null,
    removal: 'Out of reach.',
    until: 'you delete them',
  },
  process_log: {
    holds: 'nothing: values of records and requests are not logged',
    eraser: null,
    removal: 'None is needed.',
    until: 'never',
  },
} as const satisfies Record<string, Place>;

type Places = typeof PERSONAL_DATA;

/** Places that are searched by the identifiers of an erasure, in addition to the contacts. */
export type TracePlace = {
  [Name in keyof Places]: Places[Name]['eraser'] extends 'trace' ? Name : never;
}[keyof Places];
export const TRACE_PLACES = Object.entries(PERSONAL_DATA).flatMap(([name, { eraser }]) =>
  eraser === 'trace' ? [name as TracePlace] : [],
);

/** Tables, indices and topics that hold no identifier of a person. */
export const WITHOUT_PERSONS = {
  sqlite: [
    'audience_terms',
    'audiences',
    'change_feed',
    'change_times',
    'counters',
    'credits',
    'derived',
    'keys',
    'mark',
    'organizations',
    'saved_filters',
    'schema_migrations',
    'sql_copies',
    'visits',
    'visit_days',
  ],
  elasticsearch: ['audiences', 'visits', 'keys', 'filters', 'streams', 'jobs', 'migrations'],
  clickhouse: [
    'audiences',
    'website_visits',
    'campaigns',
    'creatives',
    'companies',
    'deliveries',
    'creative_deliveries',
    'company_deliveries',
    'delivery_names',
    'delivery_days',
    'creative_months',
    'company_months',
    'campaign_company_months',
    'rollups',
    'currency_rates',
  ],
} as const;
