/** The mark of Reachline, which is also the icon of the page. */
export const Logo = ({ size = 20 }: { size?: number }) => (
  <svg class="logo" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
    <rect width="16" height="16" rx="4" />
    <path d="M3.5 11.5 7 7l2.5 2.5 3-5" />
  </svg>
);
