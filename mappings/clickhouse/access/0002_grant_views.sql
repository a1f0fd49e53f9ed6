GRANT {{on_cluster}} SELECT ON {{views}}.* TO {{views}}_analyst
