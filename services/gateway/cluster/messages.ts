/** What a gateway process and the process that started it tell each other. */
import type { Registry } from 'prom-client';

/** By key: requests admitted since the last message. */
export type Spent = [keyId: string, requests: number][];
export type Counts = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export type FromGateway =
  | { type: 'listening'; url: string }
  | { type: 'spent'; spent: Spent }
  | { type: 'render'; id: number }
  | { type: 'counts'; id: number; counts: Counts };

export type ToGateway =
  | { type: 'spent'; spent: Spent }
  | { type: 'rendered'; id: number; text: string }
  | { type: 'count'; id: number };
