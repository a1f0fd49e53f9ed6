import type { Static, TSchema } from 'typebox';
import { writeCursor } from '../search/cursor.js';
import type { Page, SortKey } from '../search/query.js';
import { type Json, jsonArray } from '../shared/json.js';
import type { HandlerContext, MatchList, Parsed, WithText } from './endpoint.js';
import { EXPORT_PAGE_ITEMS } from './export.js';
import { cursorScope } from './request.js';

/** The part of a list that is read. */
export interface CursorRange {
  limit: number;
  after?: SortKey;
  /** The total is known from the first page. */
  skipsTotal: boolean;
}

/**
 * A list that is paged by `limit` and `cursor`: the page as JSON and the export of every match, both from `readPage`. What that
 * returns besides the page are further fields of the response.
 */
export const cursorListWith =
  <Services>() =>
  <Request extends TSchema, Response extends TSchema, Item>({
    request,
    response,
    items: name,
    item,
    pageFields = [],
    readPage,
  }: {
    request: Request;
    response: Response;
    /** Field of the response. */
    items: string;
    item: TSchema;
    /** Fields besides `limit` and `cursor` that are about one page. */
    pageFields?: readonly string[];
    readPage(
      context: HandlerContext<Parsed<Request>, unknown, Services>,
      range: CursorRange,
    ): Promise<Page<Json<Item>>>;
  }) => {
    const list: MatchList<Parsed<Request>, Services> = {
      item,
      pageFields: ['limit', 'cursor', ...pageFields],
      readPage: (context, next) => {
        const after = next as SortKey | undefined;
        return readPage(context, { limit: EXPORT_PAGE_ITEMS, after, skipsTotal: after !== undefined });
      },
    };
    const handle = async (context: HandlerContext<Parsed<Request>, unknown, Services>) => {
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
