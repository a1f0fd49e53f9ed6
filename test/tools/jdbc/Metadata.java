import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.Properties;

/** What DBeaver and Metabase call through the driver. Arguments: URL, password, properties as name=value. */
public class Metadata {
  interface Call {
    Object run() throws Exception;
  }

  static void call(String title, Call call) {
    try {
      System.out.println("ok\t" + title + "\t" + call.run());
    } catch (Throwable error) {
      System.out.println("not ok\t" + title + "\t" + String.valueOf(error).replaceAll("\\s+", " "));
    }
  }

  /** Reads every value, and returns the number of rows. */
  static int rows(ResultSet results) throws SQLException {
    try (results) {
      int columns = results.getMetaData().getColumnCount();
      int rows = 0;
      for (; results.next(); rows++) {
        for (int column = 1; column <= columns; column++) {
          results.getObject(column);
          results.getString(column);
        }
      }
      return rows;
    }
  }

  static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet results = statement.executeQuery(sql)) {
      results.next();
      return results.getString(1);
    }
  }

  static int count(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return rows(statement.executeQuery(sql));
    }
  }

  /** The values of a column of a result, sorted as they come. */
  static String values(ResultSet results, String column) throws SQLException {
    StringBuilder values = new StringBuilder();
    try (results) {
      while (results.next()) values.append(values.length() == 0 ? "" : " ").append(results.getString(column));
    }
    return values.toString();
  }

  public static void main(String[] args) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", "default");
    properties.setProperty("password", args[1]);
    for (int index = 2; index < args.length; index++) {
      String[] pair = args[index].split("=", 2);
      properties.setProperty(pair[0], pair[1]);
    }
    // A program that is compiled as it starts has a class loader in which DriverManager finds no driver by itself.
    Class.forName("com.clickhouse.jdbc.ClickHouseDriver");
    try (Connection connection = DriverManager.getConnection("jdbc:clickhouse:" + args[0], properties)) {
      DatabaseMetaData metadata = connection.getMetaData();
      call("isValid", () -> {
        if (!connection.isValid(5)) throw new SQLException("not valid");
        return true;
      });
      call("product", () -> metadata.getDatabaseProductName() + " " + metadata.getDatabaseProductVersion());
      call("getCatalogs", () -> rows(metadata.getCatalogs()));
      call("getSchemas", () -> values(metadata.getSchemas(), "TABLE_SCHEM"));
      call("getSchemas of a pattern", () -> values(metadata.getSchemas(null, "reachline"), "TABLE_SCHEM"));
      call("getTableTypes", () -> rows(metadata.getTableTypes()));
      call("getTables", () -> values(metadata.getTables(null, "reachline", "%", null), "TABLE_NAME"));
      String[] types = {"TABLE", "VIEW", "FOREIGN TABLE", "REMOTE TABLE", "DICTIONARY", "MATERIALIZED VIEW", "MEMORY TABLE", "LOG TABLE"};
      call("getTables of Metabase", () -> values(metadata.getTables(null, "reachline", "%", types), "TABLE_NAME"));
      call("getTables of every schema", () -> rows(metadata.getTables(null, null, "%", null)));
      call("getTables of raw tables", () -> rows(metadata.getTables(null, "default", "%", null)));
      call("getColumns", () -> values(metadata.getColumns(null, "reachline", "campaigns", "%"), "COLUMN_NAME"));
      call("types of every column", () -> {
        int known = 0;
        try (ResultSet columns = metadata.getColumns(null, "reachline", "%", "%")) {
          while (columns.next()) if (columns.getInt("DATA_TYPE") != 0 && columns.getString("REMARKS").length() > 0) known++;
        }
        return known > 90;
      });
      call("getPrimaryKeys", () -> rows(metadata.getPrimaryKeys(null, "reachline", "campaigns")));
      call("getImportedKeys", () -> rows(metadata.getImportedKeys(null, "reachline", "campaigns")));
      call("getExportedKeys", () -> rows(metadata.getExportedKeys(null, "reachline", "campaigns")));
      call("getIndexInfo", () -> rows(metadata.getIndexInfo(null, "reachline", "campaigns", false, true)));
      call("getTypeInfo", () -> values(metadata.getTypeInfo(), "TYPE_NAME").contains("Decimal256"));
      call("getFunctions", () -> rows(metadata.getFunctions(null, null, "%")) > 500);
      call("getProcedures", () -> rows(metadata.getProcedures(null, null, "%")));
      call("getTablePrivileges", () -> rows(metadata.getTablePrivileges(null, "reachline", "%")));
      call("getSchema", connection::getSchema);
      call("getTimeDateFunctions", () -> metadata.getTimeDateFunctions().length() > 0);
      call("setReadOnly", () -> {
        try {
          connection.setReadOnly(true);
        } catch (SQLFeatureNotSupportedException error) {
          return "not in this driver";
        }
        return count(connection, "SELECT 1");
      });
      call("currentDatabase", () -> text(connection, "SELECT currentDatabase()"));
      call("time zone", () -> text(connection, "SELECT timezone() AS tz"));
      call("SHOW CREATE", () -> text(connection, "SHOW CREATE TABLE reachline.campaigns").startsWith("CREATE VIEW"));
      call("EXPLAIN", () -> count(connection, "EXPLAIN SELECT count() FROM reachline.campaigns") > 0);
      for (String view : new String[] {"campaigns", "creatives", "companies", "campaign_daily", "creative_daily", "company_daily", "contacts", "audiences", "memberships", "website_visits"}) {
        call("every value of " + view, () -> count(connection, "SELECT * FROM reachline." + view) > 0);
      }
      call("setMaxRows", () -> {
        try (Statement statement = connection.createStatement()) {
          statement.setMaxRows(10);
          statement.setQueryTimeout(20);
          return rows(statement.executeQuery("SELECT * FROM reachline.campaign_daily")) >= 10;
        }
      });
      call("a prepared statement", () -> {
        String sql = "SELECT campaign_id, sum(clicks) AS clicks FROM reachline.campaign_daily WHERE organization_id = ? AND date <= ? GROUP BY campaign_id";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          ResultSetMetaData columns = statement.getMetaData();
          statement.setString(1, "org_demo");
          statement.setDate(2, Date.valueOf("2026-11-01"));
          return columns.getColumnCount() + " " + (rows(statement.executeQuery()) > 5);
        }
      });
      call("an error with its code", () -> {
        try {
          text(connection, "SELECT nothing FROM reachline.campaigns");
        } catch (SQLException error) {
          if (!error.getMessage().contains("nothing")) throw error;
          return error.getErrorCode();
        }
        throw new SQLException("no error");
      });
      call("a rejection with its code", () -> {
        try (Statement statement = connection.createStatement()) {
          statement.execute("INSERT INTO reachline.campaigns (campaign_id) VALUES ('x')");
        } catch (SQLException error) {
          if (!error.getMessage().contains("readonly")) throw error;
          return error.getErrorCode();
        }
        throw new SQLException("no error");
      });
    }
    System.exit(0);
  }
}
