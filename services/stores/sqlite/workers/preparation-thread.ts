/** Entry of the thread that prepares contacts of bulk loads for the writer. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ContactRecord } from '../../../contacts/schema.js';
import type { OrderedRecord } from '../../../shared/record-order.js';
import type { Connection } from '../connection.js';
import { prepareContacts } from '../contacts/prepared-contact.js';
import { findOrganizationKey } from '../organizations.js';
import { OrganizationTerms } from '../text/fts-query.js';
import { TermEncoder, ValueCache } from '../text/term-encoder.js';
import { isInVocabulary, vocabularyVersion } from '../text/vocabulary.js';
import { FairQueue } from './fair-queue.js';
import { runInBackground } from './priority.js';
import { createReader } from './reader.js';
import { CLOSE, type RpcRequest, type WorkerData } from './rpc.js';

/** Cached values and known words, about 200 bytes each. */
const MAX_CACHED_TERMS = 400_000;

interface Organization {
  key: number;
  text: TermEncoder;
  /** In the vocabulary. */
  knownWords: Set<string>;
}

const operations = (connection: Connection) => {
  /** An organization keeps its key for good. */
  const organizations = new Map<string, Organization>();
  let values = new ValueCache();
  let version = 0;

  const organizationOf = (id: string) => {
    let organization = organizations.get(id);
    if (!organization) {
      const key = findOrganizationKey(connection, id);
      if (key === undefined) return undefined;
      const knownWords = new Set<string>();
      const isKnown = (word: string) => {
        if (knownWords.has(word)) return true;
        if (!isInVocabulary(connection, 'contact_terms', key, word)) return false;
        knownWords.add(word);
        return true;
      };
      organization = { key, text: new TermEncoder(new OrganizationTerms(key), values, isKnown), knownWords };
      organizations.set(id, organization);
    }
    return organization;
  };

  const trimCaches = (currentVersion: number) => {
    let cached = organizations.size + values.size;
    for (const { knownWords } of organizations.values()) cached += knownWords.size;
    if (cached > MAX_CACHED_TERMS || currentVersion !== version) {
      organizations.clear();
      values = new ValueCache();
    }
    version = currentVersion;
  };

  return {
    prepareContacts: (json: string) => {
      const records = JSON.parse(json) as OrderedRecord<ContactRecord>[];
      return connection.readTransaction(() => {
        trimCaches(vocabularyVersion(connection));
        return prepareContacts(records, version, organizationOf);
      });
    },
  };
};
export type PreparationOperations = ReturnType<typeof operations>;

const reader = createReader(workerData as WorkerData, operations);
const requests = new FairQueue<RpcRequest>();
let isClosing = false;

function work(): void {
  const request = requests.shift();
  if (request) parentPort?.postMessage(reader.respond(request));
  if (requests.size > 0) setImmediate(work);
  else if (isClosing) {
    reader.close();
    parentPort?.close();
  }
}

runInBackground();
parentPort?.on('message', (request: RpcRequest) => {
  if (requests.size === 0) setImmediate(work);
  if (request.operation === CLOSE) isClosing = true;
  else requests.push(request.tenant ?? '', request);
});
