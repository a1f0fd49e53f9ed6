import type { CompanyRecord } from '../advertising/records.js';
import { DEMO_ORGANIZATION } from './calendar.js';
import { LOCALES } from './locales.js';
import { Random } from './random.js';

export type DemoCompany = ReturnType<typeof demoCompanies>[number];

const FIRST =
  'Northwind Brightwater Ironbridge Silverleaf Bluepeak Redstone Clearfield Oakmont Starling Harbor Summit Meridian Lakeshore Copperline Fairview Whitestone Cedar Granite Aurora Evergreen';
const SECOND_AND_INDUSTRY = `
Logistics: Transportation and Logistics, Software: Software Development, Health: Hospitals and Health Care,
Capital: Financial Services, Energy: Renewable Energy, Foods: Food and Beverage, Robotics: Industrial Automation,
Media: Media Production, Insurance: Insurance, Analytics: Information Services, Manufacturing: Machinery Manufacturing,
Education: Higher Education, Retail Group: Retail, Biotech: Biotechnology Research, Telecom: Telecommunications,
Security: Computer and Network Security, Construction: Construction, Consulting: Business Consulting,
Travel: Travel Arrangements, Aerospace: Aviation and Aerospace`;
const SIZES = ['11-50', '51-200', '201-500', '501-1000', '1001-5000', '5001-10000', '10001+'];

/** Number of companies that have always been known. Ads reach the others before people and visits name them. */
const LONG_KNOWN = 350;

/** The 400 companies that people work for and ads reach, largest share of attention first. */
export function demoCompanies() {
  const random = new Random('companies');
  const names = FIRST.split(' ').flatMap((first) =>
    SECOND_AND_INDUSTRY.split(',').map((entry) => {
      const [second = '', industry = ''] = entry.trim().split(': ');
      return { name: `${first} ${second}`, industry };
    }),
  );
  return random.shuffled(names).map(({ name, industry }, index) => {
    const slug = name.toLowerCase().replaceAll(' ', '-');
    return {
      id: `cmp_${String(index + 1).padStart(4, '0')}`,
      name,
      domain: `${slug}.example`,
      slug,
      industry,
      employees: random.pick(SIZES),
      country: random.pick(LOCALES).country,
      /** Number of days for which people and visits have named the company. */
      knownDays: index < LONG_KNOWN ? Number.POSITIVE_INFINITY : 2 + 2 * (index - LONG_KNOWN),
    };
  });
}

export function companyRecords(day: string): CompanyRecord[] {
  return demoCompanies().map(({ id, name, domain, slug, industry, employees, country }, index) => ({
    organization_id: DEMO_ORGANIZATION,
    id,
    network_a_company_id: String(70_000 + index * 7),
    name,
    domain,
    network_a_url: `https://www.network-a.example/company/${slug}`,
    industry,
    employee_range: employees,
    country,
    logo_url: `https://static.network-a.example/logos/${slug}.png`,
    updated_at: `${day}T00:00:00Z`,
  }));
}
