/** Messages between a cluster worker and the primary. */
import type { Registry } from 'prom-client';
import type { Caller } from '../../http/admission.js';

/** Tokens taken since the last message, per key. */
export type TakenTokens = [caller: Caller, tokens: number][];
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export type FromWorker =
  | { type: 'listening'; url: string }
  | { type: 'taken'; taken: TakenTokens }
  | { type: 'render'; id: number }
  | { type: 'collected'; id: number; values: MetricValues };

export type FromPrimary =
  | { type: 'taken'; taken: TakenTokens }
  | { type: 'rendered'; id: number; text: string }
  | { type: 'collect'; id: number };
