import type { Static, TSchema } from 'typebox';
import { writeCursor } from '../search/cursor.js';
import type { Page, SortKey } from '../search/query.js';
import { type Json, jsonArray } from '../shared/json.js';
import type { CsvProfile, HandlerContext, MatchList, ParsedBody, WithText } from './endpoint.js';
import { EXPORT_PAGE_ITEMS } from './export.js';
import { cursorScope } from './request.js';

/** The range of a list to read. */
export interface CursorRange {
  limit: number;
  after?: SortKey;
  /** Whether to skip counting, because the first page has returned the total. */
  skipsTotal: boolean;
}

/**
 * A list that is paged by `limit` and `cursor`. `readPage` serves both a page as JSON and the export of all matches. Further fields of the
 * page become fields of the response.
 */
export const cursorListWith =
  <Services>() =>
  <Request extends TSchema, Response extends TSchema, Item>({
    request,
    response,
    items: name,
    item,
    profiles,
    pageFields = [],
    readPage,
  }: {
    request: Request;
    response: Response;
    /** Name of the response field with the items. */
    items: string;
    item: TSchema;
    profiles?: Readonly<Record<string, CsvProfile>>;
    /** Request fields besides `limit` and `cursor` that affect only one page. */
    pageFields?: readonly string[];
    readPage(
      context: HandlerContext<ParsedBody<Request>, unknown, Services>,
      range: CursorRange,
    ): Promise<Page<Json<Item>>>;
  }) => {
    const list: MatchList<ParsedBody<Request>, Services> = {
      item,
      profiles,
      pageFields: ['limit', 'cursor', ...pageFields],
      readPage: (context, next) => {
        const after = next as SortKey | undefined;
        return readPage(context, { limit: EXPORT_PAGE_ITEMS, after, skipsTotal: after !== undefined });
      },
    };
    const handle = async (context: HandlerContext<ParsedBody<Request>, unknown, Services>) => {
      const { organizationId, operation, after } = context;
      const body = context.body as { limit: number };
      const page = await readPage(context, { limit: body.limit, after, skipsTotal: false });
      const { items, next, total, ranks: _, ...rest } = page;
      const scope = cursorScope({ operation, body: { ...body } }, organizationId, list);
      return {
        organization_id: organizationId,
        [name]: jsonArray(items),
        next_cursor: writeCursor(scope, next),
        total_count: total,
        ...rest,
      } as unknown as WithText<Static<Response>>;
    };
    return { request, response, list, handle };
  };
