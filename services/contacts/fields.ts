/** The fields of a contact. Schemas, stored form, requests and responses are made from these tables. */
import type { Static, TArray, TInteger, TSchema, TString, TUnsafe } from 'typebox';
import { DEPARTMENTS, SENIORITIES } from '../search/titles.js';
import { arrayOf, date, integer, nullable, optional, stringEnum, Type, text } from '../shared/schema.js';
import { CONTACT_FIELD_NAMES, type ContactField, type FIELD_TYPES, isArrayField } from './field-types.js';

const emails = (description: string) =>
  arrayOf(
    description,
    Type.String({ description: 'An email address.', format: 'idn-email', maxLength: 320 }),
    {
      maxItems: 50,
    },
  );

type Schemas = { string: TString; integer: TInteger; emails: TArray; strings: TArray };

/** Fields of a contact. Unknown scalars are null and unknown lists are empty. Emails are stored in lower case. */
export const CONTACT_FIELDS = {
  first_name: text('First name.', { examples: ['Maria'] }),
  last_name: text('Last name.', { examples: ['Cantwell'] }),
  work_emails: emails('Work email addresses, kept in lower case.'),
  personal_emails: emails('Personal email addresses, kept in lower case.'),
  phones: arrayOf('Phone numbers as written.', text('A phone number.', { minLength: 1 }), { maxItems: 50 }),
  network_a_url: text("Address of the person's profile on network_a."),
  job_title: text('Job title.', { examples: ['United States Senator'] }),
  functional_area: text('Department or function the person works in.'),
  company_name: text('Name of the company the person works for.'),
  company_network_a_url: text('Address of the company page on network_a.'),
  company_domain: text('Domain of that company.', { examples: ['senate.gov'] }),
  company_country: text("Country of the company's seat."),
  company_industry: text('Industry of the company.'),
  city: text('City.'),
  state_region: text('State or region.'),
  country: text('Country: a name or an ISO 3166 code.', { examples: ['United States'] }),
  postal_code: text('Postal code.'),
  age: integer('Age in years.', { minimum: 0, maximum: 150 }),
  dob: date('Date of birth.'),
  year_of_birth: integer('Year of birth.', { minimum: 1850, maximum: 2200 }),
  gender: text('Gender as recorded.'),
  person_image_url: text('Address of a portrait.', { maxLength: 2048 }),
  company_image_url: text('Address of the company logo.', { maxLength: 2048 }),
} satisfies { [Name in ContactField]: Schemas[(typeof FIELD_TYPES)[Name]] };
type Fields = typeof CONTACT_FIELDS;

/** Fields of a contact that are computed from its job title. Records cannot set them. */
export const DERIVED_FIELDS = {
  seniority: stringEnum('Seniority, computed from the job title.', SENIORITIES),
  department: stringEnum('Department, computed from the job title.', DEPARTMENTS),
};
export type DerivedField = keyof typeof DERIVED_FIELDS;
export const DERIVED_FIELD_NAMES = Object.keys(DERIVED_FIELDS) as DerivedField[];

/** Places where a word of a query can match: the fields of `SEARCH_FIELDS`, and the last and first name written together. */
export const EXPLAINED_FIELDS = [
  'first_name',
  'last_name',
  'full_name',
  'work_emails',
  'personal_emails',
  'job_title',
  'company_name',
  'company_domain',
  'functional_area',
  'city',
  'state_region',
  'country',
  'postal_code',
  'network_a_url',
  'phones',
] as const;
export type ExplainedField = (typeof EXPLAINED_FIELDS)[number];

/** Fields that a create request may set, in the order of the documentation. Only records set other fields. */
const CREATABLE_FIELDS = [
  'first_name',
  'last_name',
  'job_title',
  'functional_area',
  'company_name',
  'company_domain',
  'company_network_a_url',
  'city',
  'state_region',
  'country',
  'postal_code',
  'network_a_url',
  'work_emails',
  'personal_emails',
  'phones',
  'age',
  'gender',
] as const satisfies ContactField[];
type CreatableField = (typeof CREATABLE_FIELDS)[number];

/** Fields whose most frequent values a search may count (contract 3.10). */
export const FACET_FIELDS = [
  'country',
  'job_title',
  'company_name',
  'company_domain',
  'company_industry',
  'functional_area',
  'city',
  'state_region',
  'seniority',
  'department',
] as const satisfies (ContactField | DerivedField)[];
export type FacetField = (typeof FACET_FIELDS)[number];

/** Fields by which contacts can be sorted (contract 3.17). */
export const CONTACT_SORTS = ['created_at', 'updated_at', 'last_name', 'company_name'] as const;
export type ContactSort = (typeof CONTACT_SORTS)[number];

type OptionalSchemas<Names extends ContactField> = {
  [Name in Names]: ReturnType<typeof optional<Fields[Name]>>;
};

function optionalSchemas<Names extends ContactField>(names: readonly Names[]): OptionalSchemas<Names> {
  return Object.fromEntries(
    names.map((name) => [name, optional(CONTACT_FIELDS[name] as TSchema)]),
  ) as OptionalSchemas<Names>;
}

export const createRequestFields = optionalSchemas(CREATABLE_FIELDS);

export const recordFields = {
  ...createRequestFields,
  ...optionalSchemas(
    CONTACT_FIELD_NAMES.filter(
      (name): name is Exclude<ContactField, CreatableField> => !(name in createRequestFields),
    ),
  ),
};

export const responseFields = Object.fromEntries(
  CONTACT_FIELD_NAMES.map((name) => [
    name,
    isArrayField(name) ? CONTACT_FIELDS[name] : nullable(CONTACT_FIELDS[name] as TSchema),
  ]),
) as {
  [Name in ContactField]: Fields[Name] extends TArray ? Fields[Name] : TUnsafe<Static<Fields[Name]> | null>;
};
