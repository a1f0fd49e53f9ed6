/** Ids are of letters, digits and `. _ : -`, so that what a slash joins cannot be joined in another way. */
export function documentId(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}
