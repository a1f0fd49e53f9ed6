/** The list of operations, the services that operations use, and the OpenAPI document of the operations. */
import type { TSchema } from 'typebox';
import { type AccountServices, accountEndpoints, describeKey } from '../accounts/endpoints.js';
import { advertisingEndpoints } from '../advertising/endpoints.js';
import type { AdvertisingServices } from '../advertising/operation.js';
import { type AudienceServices, audienceEndpoints } from '../audiences/endpoints.js';
import { type CompanyServices, companyEndpoints } from '../companies/endpoints.js';
import { type ContactServices, contactEndpoints } from '../contacts/endpoints.js';
import type { AnswerServices } from '../http/answer-once.js';
import type { Endpoint } from '../http/endpoint.js';
import { type Json, openApiDocument } from '../http/openapi.js';
import { type InfluenceServices, influenceEndpoints } from '../influence/endpoints.js';
import { type RejectionServices, rejectionEndpoints } from '../rejections/endpoints.js';
import { type SavedFilterServices, savedFilterEndpoints } from '../saved-filters/endpoints.js';
import { type SqlServices, sqlEndpoints } from '../sql-endpoint/endpoints.js';
import { type StatusServices, statusEndpoints } from '../status/endpoints.js';
import { type VisitServices, visitEndpoints } from '../visits/endpoints.js';
import { readExamples } from './examples.js';
import { check } from './ingest/check-endpoint.js';
import { type IngestServices, ingest } from './ingest/endpoint.js';
import { describeOperational } from './operational-routes.js';

export type ApiServices = AnswerServices &
  ContactServices &
  AudienceServices &
  VisitServices &
  AdvertisingServices &
  InfluenceServices &
  CompanyServices &
  StatusServices &
  SqlServices &
  IngestServices &
  AccountServices &
  RejectionServices &
  SavedFilterServices;
export type ApiEndpoint = Endpoint<TSchema, TSchema, TSchema, ApiServices>;

const declaredEndpoints = [
  ...contactEndpoints,
  ...audienceEndpoints,
  ...savedFilterEndpoints,
  ...visitEndpoints,
  ...advertisingEndpoints,
  ...influenceEndpoints,
  ...companyEndpoints,
  ...sqlEndpoints,
  ...statusEndpoints,
  ...accountEndpoints,
  ...rejectionEndpoints,
];
/** Every operation that takes a JSON object, with the types of its declaration. */
export type DeclaredEndpoint = (typeof declaredEndpoints)[number];

/** The operations that take a JSON object, in the order of the documentation. */
export const endpoints = declaredEndpoints as unknown as readonly ApiEndpoint[];

/** Every operation, including ingest. */
export const operations = [
  ...declaredEndpoints,
  ingest,
  check,
  describeKey,
] as unknown as readonly ApiEndpoint[];

/** The OpenAPI 3.1 document of the served operations and of the operational routes. */
export const apiDocument = (served: readonly ApiEndpoint[], version: string): Json =>
  openApiDocument(served, {
    version,
    examples: readExamples().responses,
    describeRoutes: describeOperational,
  });
