/** Calls of the API. The types are the server's own; no code of it is in the console. */
import type { Static } from 'typebox';
import type {
  CampaignsRequest,
  CompaniesRequest,
  CompanyRequest,
  CreativesRequest,
} from '../advertising/requests.js';
import type {
  CampaignsResponse,
  CompaniesResponse,
  CompanyResponse,
  CreativesResponse,
} from '../advertising/responses.js';
import type {
  GetAudienceRequest,
  GetAudienceResponse,
  SearchAudiencesRequest,
  SearchAudiencesResponse,
} from '../audiences/schema.js';
import type {
  AddContactRequest,
  AddContactResponse,
  CreateContactRequest,
  CreateContactResponse,
  GetContactRequest,
  GetContactResponse,
  RemoveContactRequest,
  RemoveContactResponse,
  SearchAudienceContactsRequest,
  SearchAudienceContactsResponse,
  SearchContactsRequest,
  SearchContactsResponse,
} from '../contacts/schema.js';
import type { SearchVisitsRequest, SearchVisitsResponse } from '../visits/schema.js';

export interface Operations {
  '/api/contacts/search': [SearchContactsRequest, Static<typeof SearchContactsResponse>];
  '/api/contacts/create': [CreateContactRequest, CreateContactResponse];
  '/api/contacts/get': [Static<typeof GetContactRequest>, Static<typeof GetContactResponse>];
  '/api/audiences/search': [Static<typeof SearchAudiencesRequest>, Static<typeof SearchAudiencesResponse>];
  '/api/audiences/get': [Static<typeof GetAudienceRequest>, Static<typeof GetAudienceResponse>];
  '/api/audiences/contacts/search': [
    SearchAudienceContactsRequest,
    Static<typeof SearchAudienceContactsResponse>,
  ];
  '/api/audiences/contacts/add': [Static<typeof AddContactRequest>, Static<typeof AddContactResponse>];
  '/api/audiences/contacts/remove': [
    Static<typeof RemoveContactRequest>,
    Static<typeof RemoveContactResponse>,
  ];
  '/api/website-visits/search': [SearchVisitsRequest, Static<typeof SearchVisitsResponse>];
  '/api/advertising/network_a/campaigns': [CampaignsRequest, CampaignsResponse];
  '/api/advertising/network_a/creatives': [CreativesRequest, CreativesResponse];
  '/api/advertising/network_a/companies': [CompaniesRequest, CompaniesResponse];
  '/api/advertising/network_a/company': [CompanyRequest, CompanyResponse];
}
export type Path = keyof Operations;
export type RequestOf<P extends Path> = Operations[P][0];
export type ResponseOf<P extends Path> = Operations[P][1];

interface ProblemDocument {
  code?: string;
  title?: string;
  detail?: string;
  request_id?: string;
}

/** An answer that is not a success, or none at all (`code` is `unreachable`). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | undefined;

  constructor(status: number, { code, title, detail, request_id }: ProblemDocument) {
    super(detail ?? '');
    this.status = status;
    this.code = code ?? 'unknown';
    this.title = title ?? `The server answered ${status}`;
    this.requestId = request_id;
  }
}

const UNREACHABLE = {
  code: 'unreachable',
  title: 'The server cannot be reached',
  detail: 'It may have stopped, or this device is offline.',
};

interface RequestOptions {
  key?: string;
  body?: object;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Throws ApiError, and AbortError when the signal was aborted. */
export async function request<T>(
  method: 'GET' | 'POST',
  url: string,
  { key, body, signal, headers }: RequestOptions,
): Promise<{ status: number; body: T }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method,
      signal,
      headers: {
        ...(key === undefined ? {} : { 'X-Api-Key': key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body && JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, UNREACHABLE);
  }
  if (response.ok) return { status: response.status, body: JSON.parse(text) as T };
  throw new ApiError(response.status, problemOf(text));
}

function problemOf(text: string): ProblemDocument {
  try {
    return JSON.parse(text) as ProblemDocument;
  } catch {
    return {};
  }
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The key is a variable of the shell, so that a copied line can be shown to others. */
export function curlOf(method: 'GET' | 'POST', url: string, body?: object): string {
  const address = quote(new URL(url, location.origin).href);
  if (method === 'GET') return `curl -s ${address}`;
  return [
    `curl -s ${address}`,
    `-H "X-Api-Key: $REACHLINE_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}
