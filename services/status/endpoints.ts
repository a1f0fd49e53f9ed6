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
    'Counts of each of the eight streams, when its newest record was accepted, and which stores respond. The status is 200 even while a store is unavailable: the values of its streams are then null. A response may be a few seconds old.',
  tag: 'Operations',
  scope: [],
  request: StatusRequest,
  response: StatusResponse,
  example: {},
  handle: ({ organizationId, services }) => services.status.read(organizationId),
});

export const statusEndpoints = [readStatus];
