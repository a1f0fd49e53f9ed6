-- An analyst sees nothing until a policy of his own, added to this one by OR, names his organizations: docs/analysts.md.
CREATE ROW POLICY IF NOT EXISTS {{views}}_nothing ON {{tables}}.*
FOR SELECT USING 0 TO {{views}}_analyst
