/** The four operations on advertising. */
import { searchCampaigns, searchCreatives } from './campaign-endpoints.js';
import { searchCompanies } from './companies-endpoint.js';
import { getCompany } from './company-endpoint.js';

export const advertisingEndpoints = [searchCampaigns, searchCreatives, searchCompanies, getCompany];
