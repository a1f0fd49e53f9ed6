GRANT SELECT ON {{views}}.* TO {{views}}_analyst
