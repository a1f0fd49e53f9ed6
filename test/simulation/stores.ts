import type { IngestStores } from '../../ingest/streams/stream.js';
import type { DeliveryRecord } from '../../services/advertising/records.js';
import type { ContactRecord } from '../../services/contacts/schema.js';
import { applyRecord, type StoredContact } from '../../services/contacts/stored-contact.js';
import { isDeletion, isStale, type OrderedRecord } from '../../services/shared/record-order.js';
import {
  RejectedError,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../../services/shared/store-errors.js';
import { deliveryRows } from '../../services/stores/clickhouse/rows.js';
import type { Actor, Scheduler } from './scheduler.js';

/** Share of writes with each fault. */
export interface StoreFaults {
  /** The request is rejected before anything is applied. */
  unavailable: number;
  /** The write is applied, and reported as a failure. */
  lostAnswer: number;
  /** The write is reported as a failure, and applied later, even after a crash of the process that sent it. */
  late: number;
  /** The write is applied in part, and reported as a failure. */
  partial: number;
}

/** A value that is valid, and that every store rejects. */
export const UNSTORABLE = 'unstorable';

/** A row of the table of deliveries, with the order that decides which row replaces which. */
interface Row {
  version: string;
  impressions: string;
}

/**
 * The stores that all processes share. Records replace each other by the rules of the product: the function that applies a record to a
 * contact, and the rows that are inserted for deliveries, of which the greatest version stays.
 */
export class SharedStores {
  readonly contacts = new Map<string, StoredContact>();
  readonly deliveries = new Map<string, Row>();
  /** Whether stores accept every record, including records that they rejected before. */
  acceptsEverything = false;
  /** Writes that were reported as failures and are not applied yet. */
  pendingWrites = 0;

  applyContacts(records: readonly OrderedRecord<ContactRecord>[]): void {
    for (const ordered of records) {
      const id = ordered.record.contact_id;
      try {
        const after = applyRecord(this.contacts.get(id), ordered);
        if (after && !isDeletion(after)) this.contacts.set(id, after);
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    }
  }

  applyDeliveries(records: readonly OrderedRecord<DeliveryRecord>[]): void {
    const { columns, text } = deliveryRows(records);
    for (const line of text.split('\n').slice(0, -1)) {
      const row = Object.fromEntries(line.split('\t').map((cell, place) => [columns[place], cell]));
      const key = `${row.date} ${row.campaign_id} ${row.creative_id}`;
      const before = this.deliveries.get(key);
      const version = String(row.version);
      if (before && BigInt(before.version) >= BigInt(version)) continue;
      this.deliveries.set(key, { version, impressions: String(row.impressions) });
    }
  }
}

/** The stores as one process sees them: slow, unavailable, or with lost responses. */
export function storesOf(
  actor: Actor,
  shared: SharedStores,
  scheduler: Scheduler,
  faults: () => StoreFaults,
): IngestStores {
  async function write<T extends OrderedRecord<object>>(
    label: string,
    records: readonly T[],
    isUnstorable: (record: T) => boolean,
    apply: (records: readonly T[]) => void,
  ): Promise<void> {
    await scheduler.step(actor, `${label} sent`);
    const { unavailable, lostAnswer, late, partial } = faults();
    const chance = scheduler.random.next();
    if (chance < unavailable) throw new StoreUnavailableError('records');
    if (!shared.acceptsEverything && records.some(isUnstorable)) {
      await scheduler.step(actor, `${label} rejected`);
      throw new RejectedError('a row cannot be stored');
    }
    if (chance < unavailable + late) {
      // The request waits in the network or in the queue of the server.
      shared.pendingWrites++;
      void scheduler.step(null, `${label} applied late`, 400).then(() => {
        apply(records);
        shared.pendingWrites--;
      });
      await scheduler.step(actor, `${label} timed out`, 40);
      throw new StoreTimeoutError('records');
    }
    const isPartial = chance < unavailable + late + partial;
    apply(isPartial ? records.slice(0, scheduler.random.between(0, records.length)) : records);
    await scheduler.step(actor, `${label} applied`);
    if (isPartial || chance < unavailable + late + partial + lostAnswer)
      throw new StoreTimeoutError('records');
  }
  return {
    records: {
      preferredBatchSize: 1000,
      upsertContacts: (records: readonly OrderedRecord<ContactRecord>[]) =>
        write(
          'contacts',
          records,
          ({ record }) => record.job_title === UNSTORABLE,
          (applied) => shared.applyContacts(applied),
        ),
    },
    analytics: {
      insertDeliveries: (records: readonly OrderedRecord<DeliveryRecord>[]) =>
        write(
          'deliveries',
          records,
          ({ record }) => record.lead_form_opens === 13,
          (applied) => shared.applyDeliveries(applied),
        ),
    },
  } as unknown as IngestStores;
}
