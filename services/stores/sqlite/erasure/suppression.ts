import { randomBytes } from 'node:crypto';
import type { ContactBody } from '../../../contacts/stored-contact.js';
import {
  type Identifier,
  identifierHash,
  identifiersOf,
  SECRET_BYTES,
} from '../../../contacts/suppression.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';

type Entry = 'named' | 'found';

/** Adds an identifier. An identifier that a request named stays marked as named. */
export function addEntry(
  connection: Connection,
  { organizationId, hash, isNamed }: { organizationId: string; hash: string; isNamed: boolean },
): void {
  connection.run(
    sql`INSERT INTO suppressed (organization_id, hash, named) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET named = max(named, excluded.named)`,
    organizationId,
    hash,
    isNamed ? 1 : 0,
  );
}

/** The suppression list within one transaction. */
export class Suppression {
  readonly #connection: Connection;
  /** Whether each organization has suppression entries, by organization id. */
  readonly #inUse = new Map<string, boolean>();
  #secret: string | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Whether one of the identifiers is suppressed. `identifiers` is called only if the organization has a list. */
  includes(organizationId: string, identifiers: () => readonly Identifier[]): boolean {
    return (
      this.isUsed(organizationId) &&
      identifiers().some((each) => this.#entryOf(organizationId, each) !== undefined)
    );
  }

  /**
   * Whether a contact with the identifiers belongs to an erased person: its id is suppressed, or one of its identifiers was named by a
   * request.
   */
  includesContact(organizationId: string, identifiers: readonly Identifier[]): boolean {
    return identifiers.some((each) => {
      const entry = this.#entryOf(organizationId, each);
      return entry === 'named' || (entry === 'found' && each.kind === 'id');
    });
  }

  /** Whether the organization has suppression entries. */
  isUsed(organizationId: string): boolean {
    let isUsed = this.#inUse.get(organizationId);
    if (isUsed === undefined) {
      const entry = sql`SELECT 1 FROM suppressed WHERE organization_id = ? LIMIT 1`;
      isUsed = this.#connection.row(entry, organizationId) !== undefined;
      this.#inUse.set(organizationId, isUsed);
    }
    return isUsed;
  }

  /** Adds identifiers that a request named, or that a removed contact had. Returns their hashes. */
  add(organizationId: string, identifiers: readonly Identifier[], kind: Entry): string[] {
    const secret = this.#readSecret() ?? this.#createSecret();
    const hashes = identifiers.map((each) => identifierHash(secret, organizationId, each));
    for (const hash of hashes) {
      addEntry(this.#connection, { organizationId, hash, isNamed: kind === 'named' });
    }
    this.#inUse.delete(organizationId);
    return hashes;
  }

  /** Records the addresses of a deleted contact, as hashes. */
  noteDeleted(organizationId: string, organization: number, body: ContactBody): void {
    const secret = this.#readSecret() ?? this.#createSecret();
    for (const identifier of identifiersOf(body)) {
      if (identifier.kind === 'id') continue;
      this.#connection.run(
        sql`INSERT INTO deleted_identifiers (organization, hash, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
        organization,
        identifierHash(secret, organizationId, identifier),
        body.contact_id,
      );
    }
  }

  /** Ids of some deleted contacts that had the address. */
  deletedWith(organizationId: string, organization: number, identifier: Identifier, limit: number): string[] {
    const secret = this.#readSecret();
    if (secret === undefined || identifier.kind === 'id') return [];
    return this.#connection
      .rows<[string]>(
        sql`SELECT id FROM deleted_identifiers WHERE organization = ? AND hash = ? LIMIT ?`,
        organization,
        identifierHash(secret, organizationId, identifier),
        limit,
      )
      .map(([id]) => id);
  }

  #entryOf(organizationId: string, identifier: Identifier): Entry | undefined {
    const secret = this.#readSecret();
    if (secret === undefined) return undefined;
    const entry = this.#connection.row<[bigint]>(
      sql`SELECT named FROM suppressed WHERE organization_id = ? AND hash = ?`,
      organizationId,
      identifierHash(secret, organizationId, identifier),
    );
    if (!entry) return undefined;
    return entry[0] === 1n ? 'named' : 'found';
  }

  #readSecret(): string | undefined {
    this.#secret ??= this.#connection.row<[string]>(sql`SELECT secret FROM suppression_secret`)?.[0];
    return this.#secret;
  }

  #createSecret(): string {
    const secret = randomBytes(SECRET_BYTES).toString('hex');
    this.#connection.run(sql`INSERT INTO suppression_secret (only, secret) VALUES (1, ?)`, secret);
    this.#secret = secret;
    return secret;
  }
}
