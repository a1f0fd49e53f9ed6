/**
 * A year of made-up deliveries as statements with which the engine makes the rows itself, in the order of the tables, so that a part
 * needs no sorting. Versions have the digits of real ones, because those take most of the bytes. Pure.
 */

/** What an organization has, and what a month brings. */
export interface DeliveryShape {
  organizations: number;
  campaigns: number;
  creatives: number;
  companies: number;
  /** Deliveries of each company in a month. */
  rowsPerCompany: number;
  /** First days, ascending. */
  months: readonly string[];
}

const MONTHS = 12;
const CAMPAIGNS_LIMIT = 200;
const CREATIVES_LIMIT = 4000;
const CREATIVES_PER_CAMPAIGN = 20;
/** Deliveries of each company in a year, unless there would be more companies than the limit. */
const ROWS_PER_COMPANY = 100;
/** Of deliveries that name a creative; fewer where there would be too many creatives. */
const CREATIVE_SHARE = 0.1;

/** Twelve whole months before the one of `today`, with about `deliveries` rows in all. */
export function deliveryShape(
  deliveries: number,
  organizations: number,
  companiesLimit: number,
  today: string,
): DeliveryShape {
  const each = deliveries / organizations;
  const atLeastOne = (value: number) => Math.max(1, Math.round(value));
  const creatives = atLeastOne(Math.min(CREATIVES_LIMIT, (each * CREATIVE_SHARE) / 365));
  const companies = atLeastOne(Math.min(companiesLimit, each / ROWS_PER_COMPANY));
  return {
    organizations,
    campaigns: Math.min(CAMPAIGNS_LIMIT, Math.ceil(creatives / CREATIVES_PER_CAMPAIGN)),
    creatives,
    companies,
    rowsPerCompany: atLeastOne((each - creatives * 365) / MONTHS / companies),
    months: Array.from({ length: MONTHS }, (_, index) => monthsBefore(today, MONTHS - index)),
  };
}

function monthsBefore(today: string, months: number): string {
  const [year = 0, month = 0] = today.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 - months, 1)).toISOString().slice(0, 10);
}

const daysOf = (month: string) =>
  Math.round((Date.parse(monthsBefore(month, -1)) - Date.parse(month)) / 86_400_000);

/** Padded, so that text sorts as numbers do. */
const id = (prefix: string, number: string, digits: number) =>
  `concat('${prefix}_', leftPad(toString(${number}), ${digits}, '0'))`;
const organizationId = (number: string) => id('org', number, 5);
const campaignId = (number: string) => id('cmp', number, 4);
const creativeId = (number: string) => id('cre', number, 5);
const companyId = (number: string) => id('com', number, 8);

export const organizationOf = (index: number) => `org_${String(index).padStart(5, '0')}`;

/** A report of the day before, sent in the morning, 50 rows each millisecond; `row` is its line. */
const reportVersion = (row: string) =>
  `toUInt128(1100000014400000 + toUInt64(toUnixTimestamp(toDateTime(date, 'UTC')) + 86400) * 1000) * toUInt128('100000000000000000000000')
  + toUInt128(toUInt64(toUnixTimestamp(toDateTime(date, 'UTC')) + 101400) * 1000 + intDiv(${row}, 50)) * 10000000000 + ${row}`;

const insert = (table: string, columns: Record<string, string>, from: string) =>
  `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
SELECT ${Object.entries(columns)
    .map(([name, value]) => `${value} AS ${name}`)
    .join(', ')}
${from}`;

/** Company deliveries of one month. A company meets several campaigns a day where it has more rows than the month has days. */
export function companyMonth(shape: DeliveryShape, month: string): string {
  const { organizations, campaigns, companies, rowsPerCompany: rows } = shape;
  const days = daysOf(month);
  const perDay = Math.ceil(rows / days);
  const columns = {
    organization_id: organizationId('organization'),
    date: `toDate('${month}') + day`,
    campaign_id: campaignId(`cityHash64(company, date) % ${Math.max(1, campaigns - perDay + 1)} + nth`),
    creative_id: "''",
    company_id: companyId('company'),
    impressions: '1 + random % 40',
    clicks: 'toUInt64(bitShiftRight(random, 8) % 20 = 0)',
    landing_page_clicks: 'clicks * (bitShiftRight(random, 16) % 2)',
    reactions: 'toUInt64(bitShiftRight(random, 24) % 50 = 0)',
    engagements: 'clicks + reactions',
    video_views: 'if(bitShiftRight(random, 32) % 8 = 0, bitShiftRight(random, 40) % 10, 0)',
    active: 'true',
    version: reportVersion(
      `bitShiftRight(random, 12) % ${organizations === 1 ? companies * perDay : 100_000}`,
    ),
  };
  return insert(
    'company_deliveries',
    columns,
    `FROM (
  SELECT intDiv(number, ${companies * rows}) AS organization, intDiv(number, ${rows}) % ${companies} AS company, number % ${rows} AS row,
    intDiv(row * ${days}, ${rows}) AS day, row - intDiv(day * ${rows} + ${days - 1}, ${days}) AS nth, cityHash64(number, '${month}') AS random
  FROM numbers(${organizations * companies * rows})
)`,
  );
}

/** Creative deliveries of one month: each creative on each day. */
export function creativeMonth({ organizations, campaigns, creatives }: DeliveryShape, month: string): string {
  const days = daysOf(month);
  const metric = (shift: number, limit: number) => `bitShiftRight(random, ${shift}) % ${limit}`;
  const columns = {
    organization_id: organizationId('organization'),
    date: `toDate('${month}') + day`,
    campaign_id: campaignId(`intDiv(creative * ${campaigns}, ${creatives})`),
    creative_id: creativeId('creative'),
    company_id: "''",
    ad_spend: `toDecimal128(${metric(0, 10_000)}, 12) / 100`,
    impressions: `50 + ${metric(8, 1000)}`,
    clicks: metric(16, 50),
    landing_page_clicks: metric(20, 30),
    engagements: `clicks + ${metric(24, 40)}`,
    reactions: metric(28, 20),
    comments: metric(32, 4),
    shares: metric(34, 4),
    follows: metric(36, 3),
    video_views: metric(40, 300),
    video_completions: metric(44, 100),
    leads: metric(48, 5),
    lead_form_opens: metric(50, 10),
    conversions: metric(52, 5),
    conversion_value: `toDecimal128(${metric(54, 500)}, 12)`,
    version: reportVersion(`bitShiftRight(random, 12) % ${creatives}`),
  };
  return insert(
    'creative_deliveries',
    columns,
    `FROM (
  SELECT intDiv(number, ${days * creatives}) AS organization, intDiv(number, ${creatives}) % ${days} AS day, number % ${creatives} AS creative,
    cityHash64(number, '${month}') AS random
  FROM numbers(${organizations * days * creatives})
)`,
  );
}

/** What the views of deliveries write besides: a mark for each organization and month, the days, and what deliveries name. */
export function monthDetails(
  { organizations, creatives, companies, rowsPerCompany }: DeliveryShape,
  month: string,
): string[] {
  const days = daysOf(month);
  const mark = {
    organization_id: organizationId('number'),
    date: `toDate('${month}')`,
    mark: 'rand64()',
  };
  return [
    ...['creative_deliveries', 'company_deliveries'].map((table) =>
      insert(table, mark, `FROM numbers(${organizations})`),
    ),
    insert(
      'delivery_days',
      {
        organization_id: organizationId(`intDiv(number, ${days})`),
        date: `toDate('${month}') + number % ${days}`,
        touched_at: 'now()',
        creative_rows: String(creatives),
        company_rows: String(Math.ceil((companies * rowsPerCompany) / days)),
      },
      `FROM numbers(${organizations * days})`,
    ),
  ];
}

/** Records of campaigns, creatives and companies, and the names that deliveries bring. */
export function entities({ organizations, campaigns, creatives, companies }: DeliveryShape): string[] {
  const campaign = `intDiv(number % ${creatives} * ${campaigns}, ${creatives})`;
  const version = "toUInt128('110179646400000017964640000000000000001')";
  return [
    insert(
      'campaigns',
      {
        organization_id: organizationId(`intDiv(number, ${campaigns})`),
        id: campaignId(`number % ${campaigns}`),
        name: `concat('Campaign ', toString(number % ${campaigns}))`,
        name_key: 'lower(name)',
        status: "if(number % 3 = 0, 'PAUSED', 'ACTIVE')",
        status_key: 'status',
        objective_type: "'WEBSITE_VISITS'",
        objective_type_key: 'objective_type',
        currency: "'USD'",
        version,
      },
      `FROM numbers(${organizations * campaigns})`,
    ),
    insert(
      'creatives',
      {
        organization_id: organizationId(`intDiv(number, ${creatives})`),
        id: creativeId(`number % ${creatives}`),
        campaign_id: campaignId(campaign),
        name: `concat('Creative ', toString(number % ${creatives}))`,
        name_key: 'lower(name)',
        status: "'ACTIVE'",
        status_key: 'status',
        version,
      },
      `FROM numbers(${organizations * creatives})`,
    ),
    insert(
      'companies',
      {
        organization_id: organizationId(`intDiv(number, ${companies})`),
        id: companyId(`number % ${companies}`),
        name: `concat('Company ', hex(cityHash64(number)))`,
        name_key: 'lower(name)',
        domain: `concat('company-', toString(number % ${companies}), '.example')`,
        domain_key: 'domain',
        industry: "'Software'",
        employee_range: "'51-200'",
        country: "'Germany'",
        version,
      },
      `FROM numbers(${organizations * companies})`,
    ),
    insert(
      'delivery_names',
      {
        organization_id: organizationId(`intDiv(number, ${creatives})`),
        campaign_id: campaignId(campaign),
        creative_id: creativeId(`number % ${creatives}`),
      },
      `FROM numbers(${organizations * creatives})`,
    ),
  ];
}
