/**
 * Types of the fields of a contact, in the order of responses. The schemas are in fields.ts, so that worker threads of a store need not
 * load schemas.
 */
export const FIELD_TYPES = {
  first_name: 'string',
  last_name: 'string',
  work_emails: 'emails',
  personal_emails: 'emails',
  phones: 'strings',
  network_a_url: 'string',
  job_title: 'string',
  functional_area: 'string',
  company_name: 'string',
  company_network_a_url: 'string',
  company_domain: 'string',
  company_country: 'string',
  company_industry: 'string',
  city: 'string',
  state_region: 'string',
  country: 'string',
  postal_code: 'string',
  age: 'integer',
  dob: 'string',
  year_of_birth: 'integer',
  gender: 'string',
  person_image_url: 'string',
  company_image_url: 'string',
} as const;
export type ContactField = keyof typeof FIELD_TYPES;
export const CONTACT_FIELD_NAMES = Object.keys(FIELD_TYPES) as ContactField[];

export const isArrayField = (name: ContactField): boolean =>
  FIELD_TYPES[name] === 'emails' || FIELD_TYPES[name] === 'strings';

/** Maximum audiences of a contact (contract 3.2). */
export const MAX_AUDIENCES_PER_CONTACT = 10_000;

/** Fields whose presence a filter may require (contract 3.8). */
export const PRESENCE_FIELDS = [
  'work_emails',
  'personal_emails',
  'phones',
  'network_a_url',
  'company_domain',
] as const satisfies ContactField[];
export type PresenceField = (typeof PRESENCE_FIELDS)[number];
