/** The suppression list, one document per hash; and the secret of the hashes. */
import { randomBytes } from 'node:crypto';
import type { ErasureProof } from '../../../contacts/erasure-store.js';
import {
  type Identifier,
  identifierHash,
  listedHashes,
  SECRET_BYTES,
} from '../../../contacts/suppression.js';
import { type Documents, documentId } from '../documents.js';
import { totalHits } from '../pages.js';
import { retryWithBackoff } from '../retry.js';
import type { ForceMerge, ShardNumbers } from './expunge.js';

export interface ErasureWork {
  named: readonly Identifier[];
  /** When a process did the last step, in milliseconds since the epoch: others leave the erasure to it for a while. */
  stepped_at: number;
}

/** A document of the index: the secret, a suppressed hash, an erasure, or the force merge for all erasures. */
export interface ErasureSource {
  organization_id?: string;
  secret?: string;
  hash?: string;
  /** Milliseconds since the epoch. */
  requested_at?: number;
  proof_id?: string;
  /** Whether bytes may be left. */
  pending?: boolean;
  /** The ids of the contacts that were found so far, until nothing but bytes is left of them. */
  contact_ids?: string[];
  /** Work that is left until then. */
  work?: ErasureWork;
  /** Hashes of the contacts from then on, for the copy in another store. */
  copied?: string[];
  /** When nothing but bytes was left, in milliseconds since the epoch. */
  deleted_at?: number;
  /** The last operations then. */
  deleted_up_to?: ShardNumbers;
  proof?: ErasureProof;
  /** Of one document: the force merge that runs, and when the next one may begin. */
  expunge?: { next_at: number; merge?: ForceMerge };
}

const SECRET_ID = 'secret';
/** A person, by what a record has of them. */
export interface Person {
  organizationId: string;
  identifiers: readonly Identifier[];
}

/** Reads by id find what was acknowledged, so nothing is kept in memory: who asks after a write knows every erasure that did not find it. */
export class SuppressionList {
  readonly #documents: Documents<ErasureSource>;
  #secret: string | undefined;

  constructor(documents: Documents<ErasureSource>) {
    this.#documents = documents;
  }

  /** The keys of the states of persons with a suppressed identifier; computes no person before the first erasure. */
  async suppressed<Key, State>(
    states: ReadonlyMap<Key, State>,
    personOf: (key: Key, state: State) => Person,
  ): Promise<Set<Key>> {
    const secret = states.size > 0 ? await this.#readSecret() : undefined;
    if (secret === undefined) return new Set();
    const hashes = [...states].flatMap(([key, state]) => {
      const { organizationId, identifiers } = personOf(key, state);
      return identifiers
        .flatMap((each) => listedHashes(secret, organizationId, each))
        .map((hash) => ({ key, id: documentId(organizationId, hash) }));
    });
    const found = await this.#documents.getMany([...new Map(hashes.map((each) => [each.id, each])).values()]);
    return new Set(hashes.flatMap(({ key, id }) => (found.has(id) ? [key] : [])));
  }

  /** Whether an erasure has yet to look for contacts. It is noted, so that searches find it, before it suppresses anything. */
  async isErasing(organizationId: string): Promise<boolean> {
    const filter = [{ term: { organization_id: organizationId } }, { term: { pending: true } }];
    const query = { bool: { filter, must_not: { exists: { field: 'deleted_at' } } } };
    const { hits } = await this.#documents.search({ size: 0, terminate_after: 1, query });
    return totalHits(hits) > 0;
  }

  async includes(person: Person): Promise<boolean> {
    return (await this.suppressed(new Map([['', person]]), () => person)).size > 0;
  }

  async hashesOf(organizationId: string, identifiers: readonly Identifier[]): Promise<string[]> {
    const secret = (await this.#readSecret()) ?? (await this.#createSecret());
    return identifiers.map((each) => identifierHash(secret, organizationId, each));
  }

  async add(organizationId: string, hashes: readonly string[]): Promise<void> {
    await this.#documents.writeMany(
      hashes.map((hash) => ({
        id: documentId(organizationId, hash),
        json: () => JSON.stringify({ organization_id: organizationId, hash }),
      })),
    );
  }

  async #readSecret(): Promise<string | undefined> {
    this.#secret ??= (await this.#documents.get(SECRET_ID))?.source.secret;
    return this.#secret;
  }

  /** The first of several processes decides. */
  #createSecret(): Promise<string> {
    return retryWithBackoff(async () => {
      const secret = randomBytes(SECRET_BYTES).toString('hex');
      await this.#documents.create(SECRET_ID, { secret }, { refresh: false });
      return this.#readSecret();
    });
  }
}
