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
    'Records that HTTP ingest rejected in the last 30 days, the newest first, at most 10 000. Page on with `cursor`; the last page has a null `next_cursor`. `line` is that of the request, so that whoever sent it finds the record and sends it again.',
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
