import { endpointsWith } from '../http/endpoint.js';
import { StatusRequest, StatusResponse } from './schema.js';
import type { StatusReader } from './status-reader.js';

export interface StatusServices {
  status: Pick<StatusReader, 'read'>;
}

const endpoint = endpointsWith<StatusServices>();

const readStatus = endpoint({
  path: '/api/status',
  name: 'ReadStatus',
  summary: 'Read how fresh the data is',
  description:
    'What is stored of each of the eight streams, when its newest record was accepted, and which stores answer. It answers 200 also while a store is unavailable: the figures of its streams are null then. An answer may be a few seconds old.',
  tag: 'Operations',
  scope: [],
  request: StatusRequest,
  response: StatusResponse,
  example: {},
  handle: ({ organizationId, services }) => services.status.read(organizationId),
});

export const statusEndpoints = [readStatus];
