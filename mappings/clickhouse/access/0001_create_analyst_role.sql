CREATE ROLE IF NOT EXISTS {{views}}_analyst
