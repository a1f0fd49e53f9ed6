-- A view reads its tables with the rights of whoever asks, so that the row policies of the tables hold.
GRANT SELECT ON {{tables}}.* TO {{views}}_analyst
