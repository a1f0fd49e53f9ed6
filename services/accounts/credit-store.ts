/** Credit balances by organization. */
export interface CreditStore {
  /** Null if the organization is not metered. */
  getCredits(organizationId: string): Promise<number | null>;
  /** Makes the organization metered, with this balance. */
  setCredits(organizationId: string, balance: number): Promise<void>;
  /** Adds to the balance and returns the new balance; null if the organization is not metered. */
  grantCredits(organizationId: string, amount: number): Promise<number | null>;
}
