/** Where the tab keeps its key, in the session storage: the console signs in with it, the reference tries requests with it. */
export const STORED_KEY = 'reachline.key';
