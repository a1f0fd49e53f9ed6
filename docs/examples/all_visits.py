"""Prints the id and time of every website visit, newest first. Needs Python 3.8, and nothing else.

REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY=rl_live_... python3 all_visits.py org_acme
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("REACHLINE_URL", "http://127.0.0.1:8080")
HEADERS = {"Content-Type": "application/json", "X-Api-Key": os.environ["REACHLINE_API_KEY"]}
MAX_ATTEMPTS = 10


def post(path, body):
    """The answer of an operation. Waits as long as a 429 or 503 says, and asks again."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        request = urllib.request.Request(URL + path, json.dumps(body).encode(), HEADERS)
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            if error.code not in (429, 503) or attempt == MAX_ATTEMPTS:
                sys.exit(f"{problem['code']}: {problem['detail']} (request {problem['request_id']})")
            wait = float(error.headers.get("Retry-After", "1"))
            print(f"{problem['code']}: again in {wait:g} s", file=sys.stderr)
            time.sleep(wait)


def visits(organization_id, page_size=1000):
    """Every visit, page by page: next_cursor is null at the end."""
    body = {"organization_id": organization_id, "limit": page_size}
    while True:
        page = post("/api/website-visits/search", body)
        yield from page["visits"]
        if page["next_cursor"] is None:
            return
        body["cursor"] = page["next_cursor"]


if __name__ == "__main__":
    organization = sys.argv[1]
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    for visit in visits(organization, size):
        print(visit["createdAt"], visit["id"])
