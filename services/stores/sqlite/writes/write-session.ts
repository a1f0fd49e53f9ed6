import type { Connection } from '../connection.js';
import { findOrganizationKey } from '../organizations.js';
import { type RowId, rowIdOf, SEQUENCE_SIZE } from '../row-ids.js';
import { OrganizationTerms } from '../text/fts-query.js';
import { TermEncoder } from '../text/term-encoder.js';

/** The text indexes, with their number in the vocabulary. */
export const TEXT_INDEXES = { contact_terms: 0, audience_terms: 1 } as const;
export type TextIndex = keyof typeof TEXT_INDEXES;

/** Words and values that text writers remember, about 200 bytes each. */
const MAX_CACHED_TERMS = 400_000;
const MAX_CACHED_KEYS = 100_000;

/**
 * What the one writer of a process keeps between writes. It only ever holds what is committed or about to be:
 * after a rollback all of it is dropped.
 */
export class WriteSession {
  readonly connection: Connection;
  readonly #organizations = new Map<string, number>();
  readonly #encoders = new Map<string, TermEncoder>();
  readonly #audiences = new Map<string, number>();
  #newContacts = new Map<number, number>();
  #newVisits = new Map<number, number>();
  #number = 0;
  #savedNumber = 0;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** One transaction. Throws when any of it, or the commit, fails; then nothing was written. */
  transaction<T>(work: () => T): T {
    try {
      return this.connection.writeTransaction(() => {
        this.#begin();
        const result = work();
        this.#finish();
        return result;
      });
    } catch (error) {
      this.#invalidateCaches();
      throw error;
    }
  }

  /** A part of a transaction that may fail alone. */
  savepoint<T>(work: () => T): T {
    this.connection.exec('SAVEPOINT part');
    const contacts = new Map(this.#newContacts);
    const visits = new Map(this.#newVisits);
    try {
      const result = work();
      this.connection.exec('RELEASE part');
      return result;
    } catch (error) {
      this.connection.exec('ROLLBACK TO part');
      this.connection.exec('RELEASE part');
      this.#invalidateCaches();
      this.#newContacts = contacts;
      this.#newVisits = visits;
      throw error;
    }
  }

  organizationKey(id: string): number {
    let key = this.#organizations.get(id);
    if (key === undefined) {
      key = findOrganizationKey(this.connection, id);
      if (key === undefined) {
        this.connection.run(`INSERT INTO organizations (id) VALUES (?)`, id);
        key = findOrganizationKey(this.connection, id) as number;
      }
      this.#organizations.set(id, key);
    }
    return key;
  }

  /** Makes the columns of rows; the words in them can then be found by a query with a typo. */
  encoder(index: TextIndex, organization: number): TermEncoder {
    const name = `${index}${organization}`;
    let writer = this.#encoders.get(name);
    if (!writer) {
      writer = new TermEncoder(new OrganizationTerms(organization), (word) =>
        this.#addToVocabulary(index, organization, word),
      );
      this.#encoders.set(name, writer);
    }
    return writer;
  }

  /** The key of an audience, made when no record of it came yet: memberships may come first. */
  audienceKey(organization: number, id: string): number {
    const name = `${organization} ${id}`;
    let key = this.#audiences.get(name);
    if (key === undefined) {
      this.connection.run(
        `INSERT INTO audiences (organization, id) VALUES (?, ?) ON CONFLICT DO NOTHING`,
        organization,
        id,
      );
      const row = this.connection.row<[bigint]>(
        `SELECT key FROM audiences WHERE organization = ? AND id = ?`,
        organization,
        id,
      ) as [bigint];
      key = Number(row[0]);
      this.#audiences.set(name, key);
    }
    return key;
  }

  /** A position no row of the index has. */
  newRowId(index: TextIndex, createdMs: number): RowId {
    let position = rowIdOf(createdMs, this.#number++);
    while (this.#number > SEQUENCE_SIZE && this.#isTaken(index, position)) {
      position = rowIdOf(createdMs, this.#number++);
    }
    return position;
  }

  countContact(organization: number): void {
    this.#newContacts.set(organization, (this.#newContacts.get(organization) ?? 0) + 1);
  }

  countVisit(organization: number): void {
    this.#newVisits.set(organization, (this.#newVisits.get(organization) ?? 0) + 1);
  }

  #addToVocabulary(index: TextIndex, organization: number, word: string): void {
    const letters = Array.from(word);
    this.connection.run(
      `INSERT INTO vocabulary (organization, indexed, first, length, word) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      organization,
      TEXT_INDEXES[index],
      letters[0] as string,
      letters.length,
      word,
    );
  }

  #isTaken(index: TextIndex, position: RowId): boolean {
    return this.connection.row(`SELECT 1 FROM ${index}_docsize WHERE id = ?`, position) !== undefined;
  }

  #begin(): void {
    const row = this.connection.row<[bigint]>(`SELECT value FROM counters WHERE name = 'position'`);
    this.#number = Number(row?.[0] ?? 0);
    this.#savedNumber = this.#number;
    let remembered = 0;
    for (const { size } of this.#encoders.values()) remembered += size;
    if (remembered > MAX_CACHED_TERMS) this.#encoders.clear();
    if (this.#audiences.size > MAX_CACHED_KEYS) this.#audiences.clear();
    if (this.#organizations.size > MAX_CACHED_KEYS) this.#organizations.clear();
  }

  #finish(): void {
    if (this.#number !== this.#savedNumber) {
      this.connection.run(`UPDATE counters SET value = ? WHERE name = 'position'`, this.#number);
    }
    for (const [organization, count] of this.#newContacts) {
      this.connection.run(
        `UPDATE organizations SET contacts = contacts + ? WHERE key = ?`,
        count,
        organization,
      );
    }
    for (const [organization, count] of this.#newVisits) {
      this.connection.run(`UPDATE organizations SET visits = visits + ? WHERE key = ?`, count, organization);
    }
    this.#newContacts.clear();
    this.#newVisits.clear();
  }

  #invalidateCaches(): void {
    this.#organizations.clear();
    this.#audiences.clear();
    this.#encoders.clear();
    this.#newContacts.clear();
    this.#newVisits.clear();
  }
}

/**
 * Changes of a text index, gathered to be applied in the order of positions: FTS5 writes out what it gathered
 * whenever a position is lower than the one before it.
 */
export class IndexChanges {
  readonly #connection: Connection;
  readonly #index: TextIndex;
  readonly #insert: string;
  readonly #changes = new Map<RowId, { existed: boolean; columns?: string[] }>();

  constructor(connection: Connection, index: TextIndex, columns: readonly string[]) {
    this.#connection = connection;
    this.#index = index;
    this.#insert = `INSERT INTO ${index} (rowid, ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})`;
  }

  add(position: RowId, columns: string[]): void {
    this.#changes.set(position, { existed: false, columns });
  }

  replace(position: RowId, columns: string[]): void {
    const existed = this.#changes.get(position)?.existed ?? true;
    this.#changes.set(position, { existed, columns });
  }

  remove(position: RowId): void {
    const existed = this.#changes.get(position)?.existed ?? true;
    this.#changes.set(position, { existed });
  }

  apply(): void {
    const positions = [...this.#changes.keys()].sort((left, right) => (left < right ? -1 : 1));
    for (const position of positions) {
      const change = this.#changes.get(position);
      if (change?.existed) this.#connection.run(`DELETE FROM ${this.#index} WHERE rowid = ?`, position);
      if (change?.columns) this.#connection.run(this.#insert, position, ...change.columns);
    }
    this.#changes.clear();
  }
}
