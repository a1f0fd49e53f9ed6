/** Influence computed from raw records, day by day, without any code of the product. Days are numbers: days since the epoch. */

export interface World {
  companies: { id: string; name: string | null; domain: string | null }[];
  campaigns: { id: string; currency: string }[];
  /** Of records with the same key, the one reported last counts. */
  deliveries: {
    key: string;
    reported: number;
    day: number;
    campaign: string;
    company: string | null;
    spend: number;
    counts: Record<string, number>;
  }[];
  contacts: { id: string; domain: string | null; at: number }[];
  visits: { id: string; domain: string | null; at: number }[];
}

export interface Question {
  start: number;
  end: number;
  lookback: number;
  outcome: number;
  thresholds: Record<string, number>;
  campaigns: string[] | null;
  kinds: string[];
}

const DAY = 86_400_000;
export const iso = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);
const METRICS = ['impressions', 'clicks', 'engagements'];
const dayOf = ({ at }: { at: number }) => Math.floor(at / DAY);
const byTime = (a: { at: number; id: string }, b: { at: number; id: string }) =>
  a.at - b.at || (a.id < b.id ? -1 : 1);

export function influences(
  world: World,
  { start, end, lookback, outcome, thresholds, campaigns, kinds }: Question,
) {
  const newest = new Map<string, World['deliveries'][number]>();
  for (const row of world.deliveries) {
    if ((newest.get(row.key)?.reported ?? -1) < row.reported) newest.set(row.key, row);
  }
  const rows = [...newest.values()].filter(
    ({ campaign }) => campaigns === null || campaigns.includes(campaign),
  );
  const sumsAt = (ids: string[], day: number, campaign?: string) => {
    const counted = rows.filter(
      (row) =>
        ids.includes(row.company ?? '?') &&
        row.day <= day &&
        row.day > day - lookback &&
        (campaign ?? row.campaign) === row.campaign,
    );
    return Object.fromEntries(
      METRICS.map((metric) => [metric, counted.reduce((sum, row) => sum + (row.counts[metric] ?? 0), 0)]),
    );
  };
  const reachedBy = (sums: Record<string, number>) =>
    METRICS.filter((metric) => metric in thresholds && (sums[metric] ?? 0) >= (thresholds[metric] ?? 0));
  const exposedOn = (ids: string[]) => {
    for (let day = start; day <= end; day++) if (reachedBy(sumsAt(ids, day)).length > 0) return day;
    return null;
  };
  const domains = [...new Set(world.companies.map(({ domain }) => domain))].filter(
    (domain) => domain !== null,
  );
  const items = domains.flatMap((domain) => {
    const companies = world.companies.filter((company) => company.domain === domain);
    const ids = companies.map(({ id }) => id).sort();
    const day = exposedOn(ids);
    if (day === null) return [];
    const shown = (id: string) =>
      [...newest.values()]
        .filter((row) => row.company === id && row.day > start - lookback && row.day <= end)
        .reduce((sum, row) => sum + (row.counts.impressions ?? 0), 0);
    const named = companies
      .filter(({ name }) => name !== null)
      .sort((a, b) => shown(b.id) - shown(a.id) || (a.id < b.id ? -1 : 1));
    const ofDomain = (kind: 'contacts' | 'visits') =>
      world[kind].filter((record) => record.domain === domain).sort(byTime);
    const after = (kind: 'contacts' | 'visits') =>
      kinds.includes(kind)
        ? ofDomain(kind).filter((record) => dayOf(record) > day && dayOf(record) <= day + outcome)
        : [];
    const [contacts, visits] = [after('contacts'), after('visits')];
    const [first] = [
      ...contacts.map((r) => ({ ...r, kind: 'contact' })),
      ...visits.map((r) => ({ ...r, kind: 'visit' })),
    ].sort((a, b) => a.at - b.at || (a.kind < b.kind ? -1 : 1));
    const exposure = sumsAt(ids, day);
    const campaignSums = [...new Set(rows.map(({ campaign }) => campaign))]
      .map(
        (campaign) =>
          ({ campaign_id: campaign, name: null, ...sumsAt(ids, day, campaign) }) as Record<
            string,
            number | string | null
          >,
      )
      .filter((sums) => METRICS.some((metric) => Number(sums[metric]) > 0))
      .sort(
        (a, b) =>
          Number(b.impressions) - Number(a.impressions) ||
          (String(a.campaign_id) < String(b.campaign_id) ? -1 : 1),
      );
    return [
      {
        domain,
        name: named[0]?.name ?? null,
        company_ids: ids,
        exposed_on: iso(day),
        reached_by: reachedBy(exposure),
        exposure,
        known_before:
          ofDomain('contacts').some((record) => dayOf(record) <= day) ||
          ofDomain('visits').some((record) => dayOf(record) <= day && dayOf(record) > day - lookback),
        influenced: contacts.length + visits.length > 0,
        contacts: contacts.length,
        visits: visits.length,
        first_outcome: first
          ? { kind: first.kind, id: first.id, at: new Date(first.at).toISOString() }
          : null,
        evidence: {
          contact_ids: contacts.slice(0, 10).map(({ id }) => id),
          visit_ids: visits.slice(0, 10).map(({ id }) => id),
          campaigns: campaignSums,
        },
      },
    ];
  });
  const unplaced = new Set(
    rows
      .map(({ company }) => company)
      .filter((id) => id !== null && !world.companies.some((each) => each.id === id && each.domain !== null)),
  );
  const inTime = (kind: 'contacts' | 'visits') =>
    kinds.includes(kind)
      ? world[kind].filter((record) => dayOf(record) >= start && dayOf(record) <= end + outcome)
      : [];
  const outcomes = (kind: 'contacts' | 'visits') => ({
    after_exposure: items.reduce((sum, item) => sum + item[kind], 0),
    all: inTime(kind).length,
  });
  const spend = new Map<string, number>();
  for (const row of rows.filter((each) => each.company === null)) {
    const currency = world.campaigns.find(({ id }) => id === row.campaign)?.currency ?? '?';
    const counted = row.day > start - lookback && row.day <= end ? row.spend : 0;
    spend.set(currency, (spend.get(currency) ?? 0) + counted);
  }
  return {
    items,
    totals: {
      exposed: items.length,
      influenced: items.filter((item) => item.influenced).length,
      newly_influenced: items.filter((item) => item.influenced && !item.known_before).length,
      outcomes: { contacts: outcomes('contacts'), visits: outcomes('visits') },
      without_domain: {
        companies: [...unplaced].filter((id) => exposedOn([id as string]) !== null).length,
        contacts: inTime('contacts').filter(({ domain }) => domain === null).length,
        visits: inTime('visits').filter(({ domain }) => domain === null).length,
      },
    },
    spend: Object.fromEntries([...spend].filter(([, amount]) => amount > 0)),
  };
}
