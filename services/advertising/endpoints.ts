/** The advertising operations. */
import { getCompany } from './company-endpoint.js';
import { searchCampaigns, searchCompanies, searchCreatives } from './list-endpoints.js';
import { listAdvertisingRecords } from './records-endpoint.js';

export const advertisingEndpoints = [
  searchCampaigns,
  searchCreatives,
  searchCompanies,
  getCompany,
  listAdvertisingRecords,
];
