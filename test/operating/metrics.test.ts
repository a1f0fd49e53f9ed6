import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Counter, Gauge, Histogram } from 'prom-client';
import { parse } from 'yaml';
import { createWorkerMetrics } from '../../ingest/worker/metrics.js';
import { createMetrics } from '../../services/gateway/metrics.js';
import { registerBackgroundMetrics } from '../../services/shared/background-metrics.js';
import { ClockComparison } from '../../services/shared/clock-comparison.js';
import { packageRoot } from '../../services/shared/fs.js';
import { JobRuns } from '../../services/shared/job-runs.js';

const read = (name: string) => readFileSync(join(packageRoot, 'docs/operating', name), 'utf8');

/** Labels that Prometheus adds to every series. */
const OF_TARGETS = ['job', 'instance'];

/** Names and labels of all series that can exist. */
function knownSeries(): Map<string, Set<string>> {
  const { registry } = createMetrics();
  createWorkerMetrics(registry);
  const follower = { followedAt: async () => 0 };
  registerBackgroundMetrics(registry, {
    jobs: new JobRuns(),
    follower,
    lastBackup: () => null,
    clocks: new ClockComparison(),
  });
  const series = new Map([['up', new Set(OF_TARGETS)]]);
  for (const metric of registry.getMetricsAsArray()) {
    const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] };
    const labels = [...labelNames, ...OF_TARGETS];
    if (metric instanceof Histogram) {
      series.set(`${name}_bucket`, new Set([...labels, 'le']));
      for (const suffix of ['_sum', '_count']) series.set(name + suffix, new Set(labels));
    } else if (metric instanceof Counter || metric instanceof Gauge) series.set(name, new Set(labels));
    else throw new Error(`${name} is of a kind that is not known here`);
  }
  return series;
}

const series = knownSeries();

/** Series that an expression names. */
const namesIn = (expression: string) =>
  all(expression, /\b((?:reachline|process|nodejs)_\w+|up)\b/g).concat(
    all(expression, /__name__=~"([^"]+)"/g).flatMap((names) => names.split('|')),
  );

/** Metrics and labels that an expression and its legend use and that do not exist. */
function mistakes(expression: string, shown: readonly string[] = []): string[] {
  const names = namesIn(expression);
  const selected = all(expression, /([a-z_]+)\s*(?:=|=~|!=|!~)\s*"/g).filter((label) => label !== '__name__');
  const grouped = all(expression, /\bby \(([^)]*)\)/g).flatMap((labels) => labels.split(/,\s*/));
  const labels = new Set(names.flatMap((name) => [...(series.get(name) ?? [])]));
  return [
    ...(names.length === 0 ? [`no metric in ${expression}`] : []),
    ...names.filter((name) => !series.has(name)).map((name) => `there is no ${name}`),
    ...[...selected, ...grouped, ...shown]
      .filter((label) => !labels.has(label))
      .map((label) => `no metric of it has a label ${label}`),
  ];
}

const all = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, group]) => group as string);

describe('docs/operating/alerts.yml', () => {
  interface Alert {
    alert: string;
    expr: string;
    labels: { severity: string };
    annotations: { summary: string; description: string };
  }
  const text = read('alerts.yml');
  const alerts = (parse(text) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);

  it('asks for metrics that are there, and tells what each alert is about', () => {
    for (const { alert, expr, labels, annotations } of alerts) {
      const { summary, description } = annotations;
      expect(mistakes(expr, all(summary + description, /\$labels\.(\w+)/g)), alert).to.deep.equal([]);
      expect(labels.severity, alert).to.be.oneOf(['warning', 'critical']);
      for (const told of [summary, description]) expect(told, alert).to.be.a('string').that.matches(/\w{3}/);
    }
  });

  it('watches jobs by the names that the page gives them', () => {
    const jobs = new Set(all(text, /\bjob="([^"]+)"/g));
    expect(jobs).to.deep.equal(new Set(all(read('at-scale.md'), /job_name: (\S+?)[,\s]/g)));
  });
});

describe('docs/operating/grafana-dashboard.json', () => {
  interface Panel {
    id: number;
    title: string;
    type: string;
    targets?: { expr: string; legendFormat: string }[];
  }
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
    panels: Panel[];
    templating: { list: { query: string | { query: string } }[] };
  };
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  it('asks for metrics that are there, in panels of numbers that differ', () => {
    for (const { title, targets = [] } of panels) {
      expect(targets, title).not.to.have.lengthOf(0);
      for (const { expr, legendFormat } of targets) {
        expect(mistakes(expr, all(legendFormat, /\{\{(\w+)\}\}/g)), title).to.deep.equal([]);
      }
    }
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
  });

  it('shows every metric of ours', () => {
    const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))));
    const family = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '');
    const families = new Set([...shown].map(family));
    const ours = new Set([...series.keys()].filter((name) => name.startsWith('reachline_')).map(family));
    expect([...ours].filter((name) => !families.has(name))).to.deep.equal([]);
  });

  it('offers choices of labels that are there', () => {
    const queries = dashboard.templating.list.flatMap(({ query }) =>
      typeof query === 'string' ? [] : [query.query],
    );
    expect(queries).not.to.have.lengthOf(0);
    for (const query of queries) {
      const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
      expect(mistakes(selector, [label]), query).to.deep.equal([]);
    }
  });
});
