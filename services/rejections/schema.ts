import { cursorRequest, cursorResponse } from '../search/cursor.js';
import {
  arrayOf,
  dateTime,
  id,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  Type,
  text,
} from '../shared/schema.js';

export const RejectedRecord = looseObject(
  {
    id: id('Identifier of the rejection.'),
    stream: text('Stream of the record.'),
    line: integer('Line of the request, or position in its array, from 1.', { minimum: 1 }),
    code: text('The violated rule.'),
    pointer: Type.String({
      description: 'JSON Pointer of the field that violates it; empty for the whole record.',
    }),
    rejected_at: dateTime('When the record was rejected, UTC.'),
    record_id: nullable(text('Identifier of the record, if it could be read.')),
  },
  {
    $id: 'RejectedRecord',
    description: 'Where and why a record was rejected. Its values are not stored.',
  },
);

export const ListRejectionsRequest = strictObject({
  organization_id: optional(organizationId),
  stream: optional(text('Only records of this stream.', { maxLength: 64 })),
  ...cursorRequest('Rejections'),
});
export const ListRejectionsResponse = looseObject({
  organization_id: id('Organization of the records.'),
  rejections: arrayOf('The rejections of this page, newest first.', RejectedRecord),
  ...cursorResponse('rejections'),
});
