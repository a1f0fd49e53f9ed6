import type { Static } from 'typebox';
import {
  date,
  dateTime,
  id,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  stringEnum,
  Type,
} from '../shared/schema.js';

export const StatusRequest = strictObject({ organization_id: optional(organizationId) });

const state = (description: string) => stringEnum(description, ['ok', 'unavailable']);

const streamFields = {
  records: nullable(
    integer('Records stored, each once; null while the store does not answer.', { minimum: 0 }),
  ),
  approximate: Type.Boolean({
    description:
      'True where `records` may be larger than the number of records, as for more than 200 000 rows of deliveries; false where it is exact.',
  }),
  last_accepted_at: nullable(
    dateTime(
      'When the newest of the records was accepted; null before the first, and while the store does not answer.',
    ),
  ),
  lag: Type.Optional(
    nullable(
      integer(
        'Records of all organizations that wait in Kafka for a worker; null while no broker answers. Only where records pass through Kafka.',
        { minimum: 0 },
      ),
    ),
  ),
};
const stream = (name: string) => looseObject(streamFields, { description: `The stream \`${name}\`.` });

export const StatusResponse = looseObject({
  organization_id: id('Organization the figures are of.'),
  streams: looseObject(
    {
      contacts: stream('contacts'),
      audiences: stream('audiences'),
      'website-visits': looseObject(
        {
          ...streamFields,
          last_created_at: nullable(dateTime('When the newest visit began; null without visits.')),
        },
        { description: 'The stream `website-visits`.' },
      ),
      'network-a-campaigns': stream('network-a-campaigns'),
      'network-a-creatives': stream('network-a-creatives'),
      'network-a-companies': stream('network-a-companies'),
      'network-a-deliveries': looseObject(
        {
          ...streamFields,
          records: nullable(
            integer(
              'Records stored. Exact up to 200 000 inserted rows; beyond, `approximate` is true and these are rows of the tables, in which a restated row may count until it is merged, and one with both breakdowns counts twice. Null while the store does not answer.',
              { minimum: 0 },
            ),
          ),
          last_accepted_at: nullable(
            dateTime(
              'When the newest of the records was accepted, or of more than 200 000 rows, when the last was inserted; null before the first, and while the store does not answer.',
            ),
          ),
          last_date: nullable(date('Newest day with deliveries; null without deliveries.')),
          provisional_from: date('First day whose figures the network may still restate.'),
        },
        { description: 'The stream `network-a-deliveries`.' },
      ),
      'currency-rates': stream('currency-rates'),
    },
    { description: 'What is stored of each stream, and how fresh it is.' },
  ),
  stores: looseObject(
    {
      records: state('Contacts, audiences and visits.'),
      analytics: state('Advertising.'),
      intake: Type.Optional(state('The queue of records. Only where records pass through Kafka.')),
    },
    { description: 'Which stores answer within 2 seconds.' },
  ),
  sql_copied_at: nullable(
    dateTime(
      'When the copy of contacts and audiences that SQL reads was begun, where both stores are servers; null before the first, while ClickHouse does not answer, and where SQL reads the records themselves.',
    ),
  ),
  version: Type.String({ description: 'Version of Reachline that answers.' }),
  checked_at: dateTime('When the stores were asked; at most a few seconds ago.'),
});
export type StatusResponse = Static<typeof StatusResponse>;
