import { Configuration, ContactsApi, IngestApi, type IngestRecord } from './generated';

const { REACHLINE_URL = '', REACHLINE_API_KEY = '' } = process.env;
const configuration = new Configuration({ basePath: REACHLINE_URL, apiKey: REACHLINE_API_KEY });

async function main() {
  const filters = { organization_id: 'org_demo', country: 'US', limit: 2 };
  const { data: found } = await new ContactsApi(configuration).contactsSearch(filters);
  // It makes one interface of the records of every stream.
  const visit = { id: 'visit_client', createdAt: '2026-10-01T12:00:00Z' } as IngestRecord;
  const { data: ingested } = await new IngestApi(configuration).ingest('website-visits', [visit]);
  console.log(JSON.stringify({ contacts: found.contacts.length, accepted: ingested.accepted }));
}

void main();
