import { identifier, type Sql, sql } from '../../../shared/sql.js';
import { lastChange } from '../change-counter.js';
import type { Connection } from '../connection.js';
import { findAudienceKey, findOrganizationKey } from '../organizations.js';
import { type RowId, rowIdOf, SEQUENCE_SIZE } from '../row-ids.js';
import { OrganizationTerms } from '../text/fts-query.js';
import { INDEX_NAMES, IndexChanges, type TextIndex } from '../text/text-index.js';
import { addToVocabulary, removeFromVocabulary } from '../text/vocabulary.js';

/** Maximum cached words, about 200 bytes each. */
const MAX_CACHED_WORDS = 200_000;

/** Maximum lost words to look up: looking them up takes a few milliseconds, and a dozen ordinary contacts have fewer. */
const MAX_LOST_WORDS = 100;

const ACCEPTED_COLUMNS = {
  contacts: identifier('contacts_accepted_ms'),
  audiences: identifier('audiences_accepted_ms'),
  visits: identifier('visits_accepted_ms'),
};

/** Tables in which FTS5 keeps a row for each row of an index. */
const DOCUMENT_TABLES: Readonly<Record<TextIndex, Sql>> = {
  contact_terms: identifier('contact_terms_docsize'),
  audience_terms: identifier('audience_terms_docsize'),
};

/** Maximum cached keys of organizations. */
const MAX_CACHED_KEYS = 100_000;

/**
 * Transactions of the one writer of a process, and the caches that last between them: keys of organizations, and words. The caches hold
 * only data that is committed or about to be. A rollback clears them.
 */
export class WriteSession {
  readonly connection: Connection;
  readonly #organizations = new Map<string, number>();
  /** Words in the vocabulary, by index and organization. */
  readonly #knownWords = new Map<string, Set<string>>();
  /** Makes row ids unique. Saved at each commit. */
  #sequence = 0;
  /** Number of the last change of a contact. Saved at each commit. */
  #change = 0;
  readonly #indexChanges = new Map<TextIndex, IndexChanges>();
  /** Words that rows have and the vocabulary may lack, by index and organization. */
  readonly #added = new Map<string, { index: TextIndex; organization: number; words: string[] }>();
  /** Words that rows have lost. They stay in the vocabulary only if other rows have them. */
  readonly #lost = new Map<string, { index: TextIndex; organization: number; words: Set<string> }>();
  /**
   * Contacts and visits that each organization gained (negative: lost) in this session, and that the row of the organization does not count
   * yet.
   */
  readonly #counted = new Map<number, { contacts: number; visits: number }>();

  /** Whether deleted and erased contacts leave a mark in the feed of changes. */
  readonly keepsMarks: boolean;
  /** Whether the log may hold marks that were deleted. */
  readonly deletedMarks = { isInLog: false };

  constructor(connection: Connection, { keepsMarks = true } = {}) {
    this.connection = connection;
    this.keepsMarks = keepsMarks;
  }

  /** Runs `work` in one transaction. Throws if `work` or the commit fails; then nothing was written. */
  transaction<T>(work: () => T): T {
    try {
      return this.connection.writeTransaction(() => {
        this.#trimCaches();
        const sequence = this.connection.number(sql`SELECT value FROM counters WHERE name = 'position'`) ?? 0;
        this.#sequence = sequence;
        const change = lastChange(this.connection);
        this.#change = change;
        const result = work();
        this.applyIndexChanges();
        this.#writeCounts();
        if (this.#sequence !== sequence) {
          this.connection.run(sql`UPDATE counters SET value = ? WHERE name = 'position'`, this.#sequence);
        }
        if (this.#change !== change) {
          this.connection.run(sql`UPDATE counters SET value = ? WHERE name = 'change'`, this.#change);
        }
        return result;
      });
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Changes of a text index, which are applied before the commit. */
  indexChanges(index: TextIndex, columns: readonly Sql[]): IndexChanges {
    let changes = this.#indexChanges.get(index);
    if (!changes) {
      changes = new IndexChanges(this.connection, index, columns);
      this.#indexChanges.set(index, changes);
    }
    return changes;
  }

  /** Makes the changes so far visible to searches of the transaction. */
  applyIndexChanges(): void {
    for (const changes of this.#indexChanges.values()) changes.apply();
    for (const { index, organization, words } of this.#added.values())
      addToVocabulary(this.connection, index, organization, words);
    this.#added.clear();
    for (const { index, organization, words } of this.#lost.values()) {
      this.#removeUnused(index, organization, words);
    }
    this.#lost.clear();
  }

  /**
   * Applies the changes so far if they remove many words, so that a step of long work notices how long applying takes. FTS5 writes a
   * segment each time a search follows a change: one segment per row would cost ten times as much.
   */
  applyManyIndexChanges(): void {
    const lost = [...this.#lost.values()].reduce((sum, { words }) => sum + words.size, 0);
    if (lost >= MAX_LOST_WORDS) this.applyIndexChanges();
  }

  /** The key of an organization; a new organization gets a key. */
  organizationKey(id: string): number {
    let key = this.#organizations.get(id);
    if (key === undefined) {
      key = findOrganizationKey(this.connection, id);
      if (key === undefined) {
        this.connection.run(sql`INSERT INTO organizations (id) VALUES (?)`, id);
        key = findOrganizationKey(this.connection, id) as number;
      }
      this.#organizations.set(id, key);
    }
    return key;
  }

  /**
   * The key of an audience; a new audience gets a key, because memberships may come before the record of their audience. The key is not
   * cached, because a deletion by any process changes it.
   */
  audienceKey(organization: number, id: string): number {
    const key = findAudienceKey(this.connection, organization, id);
    if (key !== undefined) return key;
    this.connection.run(sql`INSERT INTO audiences (organization, id) VALUES (?, ?)`, organization, id);
    return findAudienceKey(this.connection, organization, id) as number;
  }

  /**
   * Gives an audience a new key and returns it. Rows of audiences are never deleted, so a key above all others was never used, and a
   * retired key is never used again.
   */
  replaceAudienceKey(organization: number, id: string): number {
    this.connection.run(
      sql`UPDATE audiences SET key = (SELECT max(key) + 1 FROM audiences) WHERE organization = ? AND id = ?`,
      organization,
      id,
    );
    return this.audienceKey(organization, id);
  }

  /** Adds words of rows to the vocabulary. */
  addWords(index: TextIndex, organization: number, words: Iterable<string>): void {
    const name = `${index}${organization}`;
    let known = this.#knownWords.get(name);
    if (!known) {
      known = new Set();
      this.#knownWords.set(name, known);
    }
    let added = this.#added.get(name);
    for (const word of words) {
      if (known.has(word)) continue;
      known.add(word);
      if (!added) {
        added = { index, organization, words: [] };
        this.#added.set(name, added);
      }
      added.words.push(word);
    }
  }

  /** Removes words that a row has lost from the vocabulary, unless another row has them. */
  forgetWords(index: TextIndex, organization: number, words: Iterable<string>): void {
    const name = `${index}${organization}`;
    const lost = this.#lost.get(name) ?? { index, organization, words: new Set() };
    for (const word of words) lost.words.add(word);
    this.#lost.set(name, lost);
  }

  #removeUnused(index: TextIndex, organization: number, words: Iterable<string>): void {
    const terms = new OrganizationTerms(organization);
    const table = INDEX_NAMES[index];
    const match = sql`SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT 1`;
    for (const word of words) {
      if (this.connection.row(match, terms.exact([word]).text) !== undefined) continue;
      removeFromVocabulary(this.connection, index, organization, word);
      this.#knownWords.get(`${index}${organization}`)?.delete(word);
    }
  }

  newRowId(index: TextIndex, createdMs: number): RowId {
    let rowId = rowIdOf(createdMs, this.#sequence++);
    while (this.#sequence > SEQUENCE_SIZE && this.#isTaken(index, rowId)) {
      rowId = rowIdOf(createdMs, this.#sequence++);
    }
    return rowId;
  }

  /** Number of a change of a contact. Numbers rise in the order of commits, because transactions never overlap. */
  nextChange(): number {
    return ++this.#change;
  }

  /** Adds to the counts of contacts or visits of the organization; a negative number subtracts. */
  count(what: 'contacts' | 'visits', organization: number, added = 1): void {
    let counted = this.#counted.get(organization);
    if (!counted) {
      counted = { contacts: 0, visits: 0 };
      this.#counted.set(organization, counted);
    }
    counted[what] += added;
  }

  #writeCounts(): void {
    for (const [organization, { contacts, visits }] of this.#counted) {
      this.connection.run(
        sql`UPDATE organizations SET contacts = contacts + ?, visits = visits + ? WHERE key = ?`,
        contacts,
        visits,
        organization,
      );
    }
    this.#counted.clear();
  }

  /** Records when a record of the organization was accepted. An earlier time than the stored time changes nothing. */
  noteAccepted(
    stream: 'contacts' | 'audiences' | 'visits',
    organizationId: string,
    acceptedAt: number,
  ): void {
    const column = ACCEPTED_COLUMNS[stream];
    this.connection.run(
      sql`UPDATE organizations SET ${column} = max(coalesce(${column}, 0), ?) WHERE id = ?`,
      acceptedAt,
      organizationId,
    );
  }

  #isTaken(index: TextIndex, rowId: RowId): boolean {
    return (
      this.connection.row(sql`SELECT 1 FROM ${DOCUMENT_TABLES[index]} WHERE id = ?`, rowId) !== undefined
    );
  }

  #trimCaches(): void {
    let words = 0;
    for (const { size } of this.#knownWords.values()) words += size;
    if (words > MAX_CACHED_WORDS) this.#knownWords.clear();
    if (this.#organizations.size > MAX_CACHED_KEYS) this.#organizations.clear();
  }

  #rollBack(): void {
    this.#indexChanges.clear();
    this.#added.clear();
    this.#lost.clear();
    this.#counted.clear();
    this.#organizations.clear();
    this.#knownWords.clear();
  }
}
