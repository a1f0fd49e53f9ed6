/** Messages between a cluster worker and the primary. */
import type { Registry } from 'prom-client';

/** Requests admitted since the last message, per key. */
export type AdmittedRequests = [keyId: string, requests: number][];
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export type FromWorker =
  | { type: 'listening'; url: string }
  | { type: 'admitted'; admitted: AdmittedRequests }
  | { type: 'render'; id: number }
  | { type: 'collected'; id: number; values: MetricValues };

export type FromPrimary =
  | { type: 'admitted'; admitted: AdmittedRequests }
  | { type: 'rendered'; id: number; text: string }
  | { type: 'collect'; id: number };
