import { cursorListWith } from '../http/cursor-list.js';
import { endpointsWith } from '../http/endpoint.js';
import { fromJson, toJson } from '../shared/json.js';
import type { Rejection, RejectionStore } from './rejection-store.js';
import { ListRejectionsRequest, ListRejectionsResponse, RejectedRecord } from './schema.js';

export interface RejectionServices {
  records: RejectionStore;
}

const listRejections = endpointsWith<RejectionServices>()({
  path: '/api/rejections/list',
  name: 'ListRejections',
  summary: 'List rejected records',
  description:
    'Records that HTTP ingest rejected in the last 30 days, newest first, at most 10 000. Continue with `cursor`; the last page has a null `next_cursor`. `line` is the line of the request, so that the sender can find the record and send it again.',
  tag: 'Ingest',
  scope: ['ingest:write'],
  example: { organization_id: 'org_demo' },
  ...cursorListWith<RejectionServices>()({
    items: 'rejections',
    item: RejectedRecord,
    request: ListRejectionsRequest,
    response: ListRejectionsResponse,
    async readPage({ organizationId, body, services, signal }, { limit, after }) {
      const search = { organizationId, stream: body.stream ?? undefined, limit, after };
      const { items, ...page } = await services.records.listRejections(search, signal);
      return { ...page, items: items.map((rejection) => toJson(toRecord(fromJson(rejection)))) };
    },
  }),
});

const toRecord = ({ organization_id: _, sequence: __, ...shown }: Rejection) => shown;

export const rejectionEndpoints = [listRejections] as const;
