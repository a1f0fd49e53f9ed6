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
    integer('Number of records, each counted once; null while the store does not respond.', { minimum: 0 }),
  ),
  approximate: Type.Boolean({
    description:
      'True if `records` may exceed the number of records, such as for more than 200 000 rows of deliveries; false if it is exact.',
  }),
  last_accepted_at: nullable(
    dateTime(
      'When the newest record was accepted; null before the first, and while the store does not respond.',
    ),
  ),
  lag: Type.Optional(
    nullable(
      integer(
        'Records of all organizations that wait in Kafka for a worker; null while no broker responds. Present only with Kafka.',
        { minimum: 0 },
      ),
    ),
  ),
};
const stream = (name: string) => looseObject(streamFields, { description: `The stream \`${name}\`.` });

export const StatusResponse = looseObject({
  organization_id: id('Organization of these counts.'),
  streams: looseObject(
    {
      contacts: stream('contacts'),
      audiences: stream('audiences'),
      'website-visits': looseObject(
        {
          ...streamFields,
          last_created_at: nullable(dateTime('When the newest visit began; null if there are none.')),
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
              'Number of records. Exact up to 200 000 inserted rows. Beyond, `approximate` is true and this counts table rows: a restated row may count until it is merged, and a row with both breakdowns counts twice. Null while the store does not respond.',
              { minimum: 0 },
            ),
          ),
          last_accepted_at: nullable(
            dateTime(
              'When the newest record was accepted; for more than 200 000 rows, when the last row was inserted. Null before the first, and while the store does not respond.',
            ),
          ),
          last_date: nullable(date('Newest day with deliveries; null if there are none.')),
          provisional_from: date('First day whose metrics the network may still restate.'),
        },
        { description: 'The stream `network-a-deliveries`.' },
      ),
      'currency-rates': stream('currency-rates'),
    },
    { description: 'Counts and freshness of each stream.' },
  ),
  stores: looseObject(
    {
      records: state('Contacts, audiences and visits.'),
      analytics: state('Advertising.'),
      intake: Type.Optional(state('The queue of records. Present only with Kafka.')),
    },
    { description: 'Which stores respond within 2 seconds.' },
  ),
  sql_copied_at: nullable(
    dateTime(
      'Time up to which SQL shows every change of contacts and audiences, usually a few seconds ago. Null before the first copy, and while ClickHouse does not respond.',
    ),
  ),
  version: Type.String({ description: 'Version of the responding Reachline.' }),
  checked_at: dateTime('When the stores were checked; at most a few seconds ago.'),
});
export type StatusResponse = Static<typeof StatusResponse>;
